import type { Socket } from "node:net";
import type { Workspace } from "../../core/workspace.ts";

/**
 * The loopback of each conversation's shell, as seen from this server: how a page of a development
 * server is looked at that runs in the sandbox. Nothing else listens there but what the
 * conversation started itself.
 */
export interface Loopbacks {
  /**
   * A folder for a shell that is about to be started, as `SandboxCommand.loopback`; `end` removes
   * it when the shell is gone.
   */
  open(workspace: Workspace): Promise<{ readonly folder: string; end(): Promise<void> }>;
  /**
   * A connection to what listens on a port there. Rejects with `unavailable`, naming the ports in
   * use, or `timeout`.
   */
  dial(workspace: Pick<Workspace, "root">, port: number): Promise<Socket>;
}

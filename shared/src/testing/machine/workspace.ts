import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Workspace } from "../../core/workspace.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";

/** A workspace for tests in a new folder, which `await using` removes. */
export async function workspaceForTest(): Promise<{ home: string; workspace: Workspace } & AsyncDisposable> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-"));
  const workspace = await openWorkspace({ home, principal: "alice", contextId: "c1" });
  return { home, workspace, [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }) };
}

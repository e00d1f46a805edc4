import type { Credentials } from "manyhands/internal/a2a/client/credentials";
import type { Config } from "manyhands/internal/config/config";
import type { AgentClient } from "../tasks/agent-client.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** What every command works with. */
export type CliContext = {
  /** The folder of the workspace. */
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** Reads the settings; rejects with `config_invalid`. */
  configure(file: string | undefined): Promise<Config>;
  /**
   * A client of the agent at a URL, whose card may name its public address instead. Rejects when no
   * agent answers there.
   */
  connect(url: string, credentials: Credentials | undefined, publicUrl?: string): Promise<AgentClient>;
};

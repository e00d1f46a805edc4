import { firstAgent } from "manyhands/internal/config/config";
import { agentEntry, argsOf } from "../supervisor/server-table.ts";
import type { CliContext } from "./context.ts";

/** What `mcp serve` is told. */
export type ServeOptions = { readonly config?: string; readonly agent?: string };

/**
 * Becomes an agent's process that speaks MCP over its standard streams: this one ends where that begins, so that nothing stands between it and
 * its caller. It listens on a free port of loopback besides, where the files of its answers are. Comes back only by rejecting.
 */
export async function serveMcp({ config: file, agent }: ServeOptions, context: CliContext): Promise<never> {
  const config = await context.configure(file);
  const entry = agentEntry(agent ?? firstAgent(config), config);
  if (process.execve === undefined) throw new Error("process.execve is missing: Bun 1.4.4 or newer is needed");
  const { PUBLIC_URL: _, ...env } = context.env;
  const told = { ...env, PORT: "0", HOST: "127.0.0.1", MANYHANDS_HOME: config.home, MANYHANDS_CONFIG: config.file };
  const given = Object.entries(told).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  return process.execve(
    process.execPath,
    [process.execPath, entry.entry, ...argsOf(entry), "--mcp-stdio"],
    Object.fromEntries(given),
  );
}

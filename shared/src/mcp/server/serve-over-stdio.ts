import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer } from "./mcp-server.ts";
import type { McpServerDeps } from "./serving.ts";

/** Whoever started this process has the rights of an unnamed caller. */
const principal = "local";

/**
 * The server on this process's standard streams, for whoever started it. `ended` is called when the
 * input ends.
 */
export function serveOverStdio(deps: McpServerDeps, ended: () => void): void {
  serveStdio(({ era }) => mcpServer(deps, era, principal), { onerror: deps.report });
  process.stdin.once("end", ended);
  process.stdin.once("close", ended);
}

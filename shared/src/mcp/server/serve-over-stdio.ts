import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer } from "./mcp-server.ts";
import type { McpServerDeps } from "./serving.ts";

/** Who started this process may do what a caller without a name may. */
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

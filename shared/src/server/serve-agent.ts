import { join } from "node:path";
import type { AgentServerSpec } from "./agent-server.ts";
import { runServer } from "./run-server.ts";
import { openToolbox } from "./toolbox.ts";

/**
 * Runs an agent's server until a signal ends it: reads the configuration, takes up the tasks a former process left, listens, and prints
 * `ready URL`. With `--mcp-stdio` it is an MCP server on its standard streams besides, until its input ends, and prints nothing else. A bad
 * configuration ends the process with exit code 2, anything else that keeps it from starting with 1; both say why.
 */
export function serveAgent(spec: AgentServerSpec): Promise<void> {
  return runServer(spec.name, async (config, logger, options) => {
    // Finding out what the machine offers waits for programs; what the server is made of is loaded meanwhile.
    const [toolbox, { startAgentServer }] = await Promise.all([
      openToolbox(join(config.home, "workspaces"), config),
      import("./agent-server.ts"),
    ]);
    await startAgentServer(spec, { config, logger, toolbox, options });
  });
}

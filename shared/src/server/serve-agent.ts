import { AppError } from "../core/errors.ts";
import { type AgentSource, agentOf, noOffers } from "./agent-source.ts";

/**
 * Runs an agent's server until a signal ends it: reads the configuration, resumes unfinished tasks,
 * listens on PORT (or the port in its settings), and prints `ready URL`. Its settings are
 * `[agents.NAME]` for the agent's name, or for the name after `--name`. An agent whose prompt or
 * tools depend on the machine is a function of what the machine offers. With `--mcp-stdio` the
 * process is also an MCP server on its standard streams, until its input ends, and prints nothing
 * else. A wrong agent or configuration ends the process with exit code 2, any other failure to
 * start with 1; both say why.
 */
export async function serveAgent(source: AgentSource): Promise<void> {
  // What runs only once is not worth compiling; `runServer` ends this when the server is ready.
  Bun.unsafe.setJITPolicy(10);
  const { endStart, runServer } = await import("./run-server.ts");
  let name: string;
  try {
    name = agentOf(source, noOffers).name;
  } catch (error) {
    return endStart("agent", error instanceof AppError ? error : new AppError("config_invalid", String(error)));
  }
  const start: Parameters<typeof runServer>[1] = async (config, logger, options) => {
    const { openMachine } = await import("./machine/open-machine.ts");
    const machine = await openMachine(`${config.home}/workspaces`, config.sandbox, config.python);
    const { startAgentServer } = await import("./agent-server.ts");
    await startAgentServer({ name: options.name, source }, { config, logger, machine, options });
  };
  await runServer(name, start, { isAgent: true });
}

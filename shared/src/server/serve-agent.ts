import { AppError } from "../core/errors.ts";
import { type AgentSource, agentOf, noOffers } from "./agent-source.ts";

/**
 * Runs an agent's server until a signal ends it: reads the configuration, takes up the tasks a
 * former process left, listens on PORT (or the port its settings give it), and prints `ready URL`.
 * `[agents.NAME]` of the agent's name says what is set for it, or of the name after `--name`. An
 * agent whose prompt or tools depend on what this machine offers is given as a function of that.
 * With `--mcp-stdio` it is an MCP server on its standard streams besides, until its input ends, and
 * prints nothing else. A bad agent or configuration ends the process with exit code 2, anything
 * else that keeps it from starting with 1; both say why.
 */
export async function serveAgent(source: AgentSource): Promise<void> {
  const { endStart, runServer } = await import("./run-server.ts");
  let name: string;
  try {
    name = agentOf(source, noOffers).name;
  } catch (error) {
    return endStart("agent", error instanceof AppError ? error : new AppError("config_invalid", String(error)));
  }
  const start: Parameters<typeof runServer>[1] = async (config, logger, options) => {
    const { openMachine } = await import("./open-machine.ts");
    const machine = await openMachine(`${config.home}/workspaces`, config.sandbox);
    const [{ openToolbox }, { startAgentServer }] = await Promise.all([
      import("./toolbox.ts"),
      import("./agent-server.ts"),
    ]);
    const toolbox = await openToolbox(config, machine);
    await startAgentServer({ name: options.name, source }, { config, logger, toolbox, options });
  };
  await runServer(name, start, { isAgent: true });
}

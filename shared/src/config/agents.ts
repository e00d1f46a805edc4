/**
 * What holds for an agent where the settings say nothing. `entry` is a path below the folder of
 * this system.
 */
type AgentDefaults = {
  readonly entry: string;
  readonly port: number;
  readonly delegates: readonly string[];
  readonly mcp: readonly string[];
};

/** Means all others in `delegates`, and all servers in `mcp`. */
export const everyone = "*";

/**
 * The agents there are unless the settings say otherwise: the defaults of `[agents]`, and the one
 * place that knows their names.
 */
export const agentDefaults: Readonly<Record<string, AgentDefaults>> = {
  manus: { entry: "agents/manus/src/server.ts", port: 4101, delegates: [everyone], mcp: [everyone] },
  browser: { entry: "agents/browser/src/server.ts", port: 4102, delegates: [], mcp: [] },
  swe: { entry: "agents/swe/src/server.ts", port: 4103, delegates: [], mcp: [] },
  "data-analysis": { entry: "agents/data-analysis/src/server.ts", port: 4104, delegates: [], mcp: [] },
};

/** The first port for agents that say none. */
export const firstFreePort = 4105;

/**
 * What agents and flows can be called: the name goes into URLs, run kinds and names of variables.
 */
export const nameRule = { pattern: /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, words: "lower-case letters, digits and dashes" };

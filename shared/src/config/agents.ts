/** Defaults of an agent. `entry` is a path below the folder of this system. */
type AgentDefaults = {
  readonly entry: string;
  readonly port: number;
  readonly delegates: readonly string[];
  readonly mcp: readonly string[];
  /** Its drawing in the console. */
  readonly icon: "hand" | "web" | "branch" | "bars";
};

/** Means all others in `delegates`, and all servers in `mcp`. */
export const everyone = "*";

/** The default agents of `[agents]`; no other code knows their names. */
export const agentDefaults: Readonly<Record<string, AgentDefaults>> = {
  manus: { entry: "agents/manus/src/server.ts", port: 4101, delegates: [everyone], mcp: [everyone], icon: "hand" },
  browser: { entry: "agents/browser/src/server.ts", port: 4102, delegates: [], mcp: [], icon: "web" },
  swe: { entry: "agents/swe/src/server.ts", port: 4103, delegates: [], mcp: [], icon: "branch" },
  "data-analysis": { entry: "agents/data-analysis/src/server.ts", port: 4104, delegates: [], mcp: [], icon: "bars" },
};

/** The first port for agents without one. */
export const firstFreePort = 4105;

/** The agents of this system by name, with the port each has unless told otherwise and the variable that tells otherwise. */
export const agentPorts = {
  manus: { port: 4101, portEnv: "MANUS_PORT", urlEnv: "MANUS_URL" },
  browser: { port: 4102, portEnv: "BROWSER_PORT", urlEnv: "BROWSER_URL" },
  swe: { port: 4103, portEnv: "SWE_PORT", urlEnv: "SWE_URL" },
  "data-analysis": { port: 4104, portEnv: "DATA_ANALYSIS_PORT", urlEnv: "DATA_ANALYSIS_URL" },
} as const;

/** A key of the table above. */
export type AgentName = keyof typeof agentPorts;

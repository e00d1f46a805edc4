/** The servers of an `mcp.json`, as the settings of an agent name them. */
export { readServers } from "../mcp/client/servers/read-servers.ts";
export type { ProgramServer, RemoteServer, ServerConfig } from "../mcp/client/servers/server-config.ts";

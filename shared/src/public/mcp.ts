/** Tools of MCP servers. */
export { createMcpHost, type McpHost } from "../mcp/client/create-host.ts";
export { readServers } from "../mcp/client/servers/read-servers.ts";

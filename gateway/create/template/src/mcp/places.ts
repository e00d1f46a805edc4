import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

/**
 * An MCP server: tools for any program that speaks MCP. `mcp.json` names it, and the concierge has
 * its tools.
 */
const server = new McpServer({ name: "places", version: "0.1.0" });

const places = [
  { city: "Lisbon", name: "Tile Museum", indoors: true },
  { city: "Lisbon", name: "Belém by the river", indoors: false },
];

server.registerTool(
  "find_places",
  { description: "Places worth a visit in a city.", inputSchema: z.object({ city: z.string() }) },
  async ({ city }) => ({
    content: [{ type: "text", text: JSON.stringify(places.filter((place) => place.city === city)) }],
  }),
);

await server.connect(new StdioServerTransport());

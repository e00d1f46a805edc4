import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const hours: Record<string, string> = {
  Colosseum: "9:00–16:30",
  Pantheon: "9:00–19:00",
  "Borghese Gallery": "9:00–19:00, closed on Mondays",
};

const server = new McpServer({ name: "opening-hours", version: "1.0.0" });

server.registerTool(
  "opening_hours",
  {
    description: "Tells when a sight in Rome is open.",
    inputSchema: z.object({ sight: z.string().describe("Its English name") }),
    annotations: { readOnlyHint: true },
  },
  async ({ sight }) => ({
    content: [{ type: "text", text: hours[sight] ?? `Not known. Known: ${Object.keys(hours).join(", ")}` }],
  }),
);

await server.connect(new StdioServerTransport());

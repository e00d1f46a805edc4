import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as z from "zod";

/** A server built on the first SDK, over its standard streams. */
const server = new McpServer({ name: "v1", version: "1.0.0" });
server.registerTool(
  "add",
  {
    description: "Adds two numbers.",
    inputSchema: { a: z.number(), b: z.number() },
    outputSchema: { sum: z.number() },
    annotations: { readOnlyHint: true },
  },
  async ({ a, b }) => ({
    content: [{ type: "text", text: "See the structured result." }],
    structuredContent: { sum: a + b },
  }),
);
server.registerTool("order", { description: "Orders tea.", inputSchema: {} }, async () => {
  const { action, content } = await server.server.elicitInput({
    message: "Which tea?",
    requestedSchema: {
      type: "object",
      properties: { kind: { type: "string", enum: ["green", "black"] }, cups: { type: "integer" } },
      required: ["kind"],
    },
  });
  return { content: [{ type: "text", text: `${action}: ${JSON.stringify(content ?? null)}` }] };
});
await server.connect(new StdioServerTransport());

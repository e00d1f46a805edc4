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
async function order() {
  const { action, content } = await server.server.elicitInput({
    message: "Which tea?",
    requestedSchema: {
      type: "object",
      properties: { kind: { type: "string", enum: ["green", "black"] }, cups: { type: "integer" } },
      required: ["kind"],
    },
  });
  return { content: [{ type: "text" as const, text: `${action}: ${JSON.stringify(content ?? null)}` }] };
}
server.registerTool("order", { description: "Orders tea.", inputSchema: {} }, order);
let come = 0;
const both = Promise.withResolvers<void>();
server.registerTool("share", { description: "Orders tea once two want some.", inputSchema: {} }, async () => {
  if (++come === 2) both.resolve();
  await both.promise;
  return order();
});
await server.connect(new StdioServerTransport());

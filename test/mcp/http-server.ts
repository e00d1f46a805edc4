import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

/** A server of the 2026 revision over HTTP, and what it was sent. */
export type HttpServer = Disposable & { readonly url: string; readonly headers: Headers[] };

const confirmation = z.object({ confirm: z.boolean() });

function server(): McpServer {
  const made = new McpServer({ name: "modern", version: "1.0.0" });
  const echo = {
    description: "Echoes.",
    inputSchema: z.object({ text: z.string() }),
    annotations: { readOnlyHint: true },
  };
  made.registerTool("echo", echo, async ({ text }) => ({ content: [{ type: "text", text: `echo: ${text}` }] }));
  made.registerTool("deploy", { description: "Deploys.", inputSchema: z.object({}) }, async (_, context) => {
    const confirmed = acceptedContent(context.mcpReq.inputResponses, "confirm", confirmation);
    if (confirmed === undefined) {
      const asked = inputRequired.elicit({ message: "Deploy to production?", requestedSchema: confirmation });
      return inputRequired({ inputRequests: { confirm: asked }, requestState: "state-1" });
    }
    const state = context.mcpReq.requestState<string>();
    return { content: [{ type: "text", text: `deployed: ${confirmed.confirm}, ${state}` }] };
  });
  return made;
}

/** Starts one on a free port; `check` may answer a request instead. */
export function startHttpServer(
  check?: (request: Request) => Promise<Response | undefined> | Response | undefined,
): HttpServer {
  const headers: Headers[] = [];
  const handler = createMcpHandler(server);
  const bun = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      headers.push(request.headers);
      return (await check?.(request)) ?? handler.fetch(request);
    },
  });
  return { url: `${bun.url.href}mcp`, headers, [Symbol.dispose]: () => void bun.stop(true) };
}

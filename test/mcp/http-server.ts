import { acceptedContent, createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

/** A server of the 2026 revision over HTTP, with the headers it received. */
export type HttpServer = Disposable & { readonly url: string; readonly headers: Headers[] };

const confirmation = z.object({ confirm: z.boolean() });

/** Changes by its tools that its later answers show. */
type Grown = { done: boolean; tell(): void };

function server(grown: Grown): McpServer {
  const made = new McpServer({ name: "modern", version: "1.0.0" }, { capabilities: { tools: { listChanged: true } } });
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
  made.registerTool("sing", { description: "Sings.", inputSchema: z.object({}) }, async () => ({
    content: [
      { type: "audio", data: Buffer.from("la la").toString("base64"), mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "song://one/score.pdf", blob: "AAEC", mimeType: "application/pdf" } },
      { type: "resource_link", uri: "http://169.254.169.254/song", name: "song" },
    ],
  }));
  made.registerTool("grow", { description: "Grows.", inputSchema: z.object({}) }, async () => {
    grown.done = true;
    grown.tell();
    return { content: [{ type: "text", text: "grown" }] };
  });
  if (grown.done)
    made.registerTool("bloom", { description: "Blooms.", inputSchema: z.object({}) }, async () => ({
      content: [{ type: "text", text: "in full bloom" }],
    }));
  return made;
}

/** Starts one on a free port; `check` may answer a request instead. */
export function startHttpServer(
  check?: (request: Request) => Promise<Response | undefined> | Response | undefined,
): HttpServer {
  const headers: Headers[] = [];
  const grown: Grown = { done: false, tell: () => handler.notify.toolsChanged() };
  const handler = createMcpHandler(() => server(grown));
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

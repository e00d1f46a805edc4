import type { Tool } from "@modelcontextprotocol/client";

/** A message that the server got, with the session it came in. */
export type McpMessage = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: unknown;
};

/** How a test answers a message in place of the server; undefined leaves it to the server. */
export type McpAnswer = (message: McpMessage, request: Request) => Promise<Response | undefined> | Response | undefined;

/** An MCP server of revision 2025-06-18 over HTTP, in this process, which does what a test says. */
export type McpServerByHand = Disposable & {
  readonly url: string;
  /** The methods it was asked for, in order; `DELETE` when a session was ended. */
  readonly asked: string[];
  /** The sessions that are open; whoever comes with another one is refused with `refusal`. */
  readonly sessions: Set<string>;
  refusal: number;
  tools: readonly Tool[];
  answer: McpAnswer;
};

/** The response to a message. */
export function mcpResult(message: McpMessage, result: object, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", id: message.id, result }, { headers });
}

/** These messages as an event stream, which ends after the last one is there. */
export function mcpStream(messages: AsyncIterable<object>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(controller) {
      for await (const one of messages)
        controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...one })}\n\n`));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** A tool with this name and description. */
export function mcpTool(name: string, description = `The tool ${name}.`): Tool {
  return { name, description, inputSchema: { type: "object" } };
}

/** Starts one on a free port, with one tool, `echo`, that returns its arguments. */
export function mcpServerByHand(): McpServerByHand {
  const take = async (message: McpMessage, request: Request): Promise<Response> => {
    const own = await server.answer(message, request);
    if (own !== undefined) return own;
    const { id, method, params = {} } = message;
    if (method === "initialize") {
      const session = crypto.randomUUID();
      server.sessions.add(session);
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: { listChanged: true }, resources: {} },
        serverInfo: { name: "by hand", version: "1" },
      };
      return mcpResult(message, result, { "mcp-session-id": session });
    }
    if (method === "server/discover")
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
    if (!server.sessions.has(request.headers.get("mcp-session-id") ?? ""))
      return new Response("no such session", { status: server.refusal });
    if (id === undefined || method === undefined) return new Response(null, { status: 202 });
    if (method === "tools/list") return mcpResult(message, { tools: server.tools });
    if (method === "tools/call")
      return mcpResult(message, { content: [{ type: "text", text: JSON.stringify(params.arguments) }] });
    return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } });
  };
  const bun = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") {
        if (request.method === "DELETE") server.asked.push("DELETE");
        return new Response(null, { status: request.method === "DELETE" ? 200 : 405 });
      }
      const message = (await request.clone().json()) as McpMessage;
      server.asked.push(message.method ?? "answer");
      return take(message, request);
    },
  });
  const server: McpServerByHand = {
    url: `${bun.url.href}mcp`,
    asked: [],
    sessions: new Set(),
    refusal: 404,
    tools: [mcpTool("echo")],
    answer: () => undefined,
    [Symbol.dispose]: () => void bun.stop(true),
  };
  return server;
}

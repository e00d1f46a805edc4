// biome-ignore lint/suspicious/noExplicitAny: tests look into what came over the wire without a schema for each answer
export type Wire = any;

/** The JSON body of a response. */
export async function wire(response: Response | Promise<Response>): Promise<Wire> {
  return (await response).json();
}

/** One answer to a raw JSON-RPC call. */
export type RpcAnswer = {
  readonly status: number;
  readonly body: Wire;
  readonly headers: Headers;
};

/** Calls a JSON-RPC method of A2A 1.0, or of another version with that header, as `user`. */
export async function rpc(
  url: string,
  method: string,
  params?: unknown,
  { user, headers = {} }: { user?: string; headers?: Record<string, string> } = {},
): Promise<RpcAnswer> {
  return rawRpc(url, JSON.stringify({ jsonrpc: "2.0", id: 7, method, params }), {
    "A2A-Version": "1.0",
    ...(user === undefined ? {} : { "X-User": user }),
    ...headers,
  });
}

/** Posts any bytes to the JSON-RPC address. */
export async function rawRpc(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", ...headers },
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text), headers: response.headers };
}

/** The parameters of SendMessage for a text. */
export function textMessage(text: string, over: object = {}, configuration?: object) {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...over };
  return configuration === undefined ? { message } : { message, configuration };
}

/** One event of a stream. */
export type SseItem = { readonly id?: number; readonly event?: string; readonly data: unknown };

/** The events of an SSE response as they arrive. */
export async function* sseItems(response: Response): AsyncGenerator<SseItem> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const item = parseItem(text.slice(0, end));
      text = text.slice(end + 2);
      if (item !== undefined) yield item;
    }
  }
}

function parseItem(block: string): SseItem | undefined {
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const data = fields.get("data");
  if (data === undefined) return undefined;
  const id = fields.get("id");
  const event = fields.get("event");
  return {
    data: JSON.parse(data),
    ...(id === undefined ? {} : { id: Number(id) }),
    ...(event === undefined ? {} : { event }),
  };
}

/** Asks `check` until it answers something other than undefined, for at most `withinMs`. */
export async function eventually<Value>(
  check: () => Promise<Value | undefined> | Value | undefined,
  withinMs = 60_000,
): Promise<Value> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await check();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`It did not happen within ${withinMs / 1000} seconds`);
    await Bun.sleep(10);
  }
}

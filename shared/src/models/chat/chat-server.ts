import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../../core/errors.ts";
import {
  type ChatAnswer,
  type ChatRequest,
  chatRequestSchema,
  deltasOf,
  finishOf,
  messageOf,
} from "./chat-protocol.ts";

/** How an answer is sent, faults included, so that clients can be tested against them. */
export type AnswerDelivery = {
  /** Sends this HTTP status and an error object in place of the answer. */
  readonly status?: number;
  readonly error?: { readonly message: string; readonly [field: string]: unknown };
  readonly headers?: Readonly<Record<string, string>>;
  /** Waits before anything is sent. */
  readonly delayMs?: number;
  /** Waits for this before anything is sent. */
  readonly after?: Promise<unknown>;
  /** Waits for this when half of the deltas are sent. */
  readonly midway?: Promise<unknown>;
  /** Waits before each delta. */
  readonly deltaDelayMs?: number;
  /** Sends these events in place of the answer's own, without a final `[DONE]`. */
  readonly events?: readonly string[];
  /** Falls silent after this many deltas; the connection stays open. */
  readonly stallAfter?: number;
  /** Ends the body properly after this many deltas, without a finish reason. */
  readonly cutAfter?: number;
  /** Destroys the connection after this many deltas. */
  readonly resetAfter?: number;
};

/** One HTTP exchange as the server sees it. */
export type ChatExchange = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: ChatRequest;
  /** `dropped`: the client closed the connection before it had the whole answer. */
  state: "open" | "answered" | "dropped";
};

/** A running chat completions server. */
export type ChatServer = {
  /** What a client takes as its base URL, `/v1` included. */
  readonly url: string;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
};

/**
 * Serves the OpenAI chat completions protocol on loopback: `POST …/chat/completions`, streamed or
 * whole, and `GET /v1/models`. Rejects with `unavailable` when the port is taken. Used by the
 * rehearsal model and by the scripted model of the tests.
 */
export async function startChatServer(spec: {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly models: readonly string[];
  readonly answer: (exchange: ChatExchange) => ChatAnswer & AnswerDelivery;
}): Promise<ChatServer> {
  const server = createServer((request, response) => {
    handle(request, response, spec).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, 500, { message: error instanceof Error ? error.message : String(error) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new AppError("unavailable", `The model server cannot listen: ${cause.message}`)),
    );
    server.listen(spec.port ?? 0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  spec: {
    readonly models: readonly string[];
    readonly answer: (exchange: ChatExchange) => ChatAnswer & AnswerDelivery;
  },
): Promise<void> {
  const path = request.url ?? "/";
  const { pathname } = new URL(path, "http://localhost");
  if (request.method === "GET" && pathname === "/v1/models") {
    const data = spec.models.map((id) => ({ id, object: "model", created: 0, owned_by: "manyhands" }));
    return sendJson(response, 200, { object: "list", data });
  }
  if (request.method !== "POST" || !pathname.endsWith("/chat/completions")) {
    return sendError(response, 404, { message: `No such path: ${request.method} ${pathname}` });
  }
  const parsed = chatRequestSchema.safeParse(await readJson(request));
  if (!parsed.success) return sendError(response, 400, { message: parsed.error.message, code: "invalid_request" });
  const exchange: ChatExchange = { path, headers: headersOf(request), body: parsed.data, state: "open" };
  response.once("close", () => {
    exchange.state = response.writableFinished ? "answered" : "dropped";
  });
  await deliver(response, exchange, spec.answer(exchange));
}

async function deliver(
  response: ServerResponse,
  exchange: ChatExchange,
  answer: ChatAnswer & AnswerDelivery,
): Promise<void> {
  if (answer.delayMs !== undefined) await sleep(answer.delayMs);
  await answer.after;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.status !== undefined && answer.status !== 200) {
    return sendError(response, answer.status, answer.error ?? { message: `scripted status ${answer.status}` });
  }
  if (exchange.body.stream === true) return stream(response, exchange, answer);
  const usage = answer.usage === undefined ? {} : { usage: answer.usage };
  const choices = [{ index: 0, message: messageOf(answer), finish_reason: finishOf(answer) }];
  sendJson(response, 200, { ...envelope(exchange), object: "chat.completion", choices, ...usage });
}

async function stream(
  response: ServerResponse,
  exchange: ChatExchange,
  answer: ChatAnswer & AnswerDelivery,
): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  response.flushHeaders();
  const head = { ...envelope(exchange), object: "chat.completion.chunk" };
  const send = (data: string) => response.write(`data: ${data}\n\n`);
  if (answer.events !== undefined) {
    for (const event of answer.events) send(event);
    response.end();
    return;
  }
  const deltas = deltasOf(answer);
  for (const [index, delta] of [...deltas, undefined].entries()) {
    if (index === answer.stallAfter) return;
    if (index === answer.cutAfter) {
      response.end();
      return;
    }
    if (index === answer.resetAfter) {
      // A reset overtakes what the client has not read yet.
      await sleep(20);
      response.destroy();
      return;
    }
    if (delta === undefined || exchange.state === "dropped") break;
    if (index === Math.ceil(deltas.length / 2)) await answer.midway;
    if (answer.deltaDelayMs !== undefined && answer.deltaDelayMs > 0) await sleep(answer.deltaDelayMs);
    send(JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: null }] }));
  }
  send(JSON.stringify({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finishOf(answer) }] }));
  if (answer.usage !== undefined && exchange.body.stream_options?.include_usage === true) {
    send(JSON.stringify({ ...head, choices: [], usage: answer.usage }));
  }
  send("[DONE]");
  response.end();
}

function envelope({ body }: ChatExchange): object {
  return { id: "chatcmpl-local", created: 0, model: body.model };
}

function headersOf(request: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()]));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}

function sendError(response: ServerResponse, status: number, error: object): void {
  sendJson(response, status, { error });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

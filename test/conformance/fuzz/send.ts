import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import type { Listening } from "./fuzz-server.ts";
import type { Sent } from "./requests.ts";

/** How a request went, in a word or two, and what is wrong with that. */
export type Outcome = { readonly told: string; readonly fault?: string };

/** Sends requests to one server. */
export type Sender = Disposable & { send(request: Sent): Promise<Outcome> };

/** A server that says nothing for so long hangs. */
const hangMs = 120_000;

const breakOffMs = 200;

/** Opens a sender. */
export function senderTo({ url, grpc }: Listening): Sender {
  const client = new Client(grpc, credentials.createInsecure());
  return {
    async send(request) {
      const sent = over(url, client, request);
      try {
        return await within(hangMs, sent);
      } catch (error) {
        return { told: "no answer", fault: String(error) };
      }
    },
    [Symbol.dispose]: () => client.close(),
  };
}

function over(url: string, client: Client, request: Sent): Promise<Outcome> {
  switch (request.over) {
    case "gRPC":
      return request.streams ? streamed(client, request) : called(client, request);
    case "socket":
      return written(url, request);
    default:
      return fetched(url, request);
  }
}

async function within<Value>(milliseconds: number, work: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${milliseconds} ms`)), milliseconds);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function fetched(url: string, request: Extract<Sent, { over: "JSON-RPC" | "HTTP+JSON" }>): Promise<Outcome> {
  const { method, path, headers, body } = request;
  const gone = new AbortController();
  const init = { method, headers, signal: gone.signal, redirect: "manual" } as const;
  const response = await fetch(`${url}${path}`, body === undefined ? init : { ...init, body });
  const told = String(response.status);
  const text = await beginning(response);
  gone.abort();
  if (response.status >= 500) return { told, fault: `${told} ${text.slice(0, 300)}` };
  // A bug is told like this over JSON-RPC, and in a stream.
  if (/"reason":"INTERNAL"|internal error/i.test(text)) return { told, fault: text.slice(0, 300) };
  return { told: response.ok && /^(data: )?\{.*"error":\{/.test(text) ? `${told} error` : told };
}

/** All of an answer, or the first piece of a stream, which may have no end. */
async function beginning(response: Response): Promise<string> {
  if (response.headers.get("Content-Type")?.startsWith("text/event-stream") !== true) return response.text();
  for await (const chunk of response.body ?? []) return new TextDecoder().decode(chunk);
  return "";
}

type GrpcSent = Extract<Sent, { over: "gRPC" }>;

/** Codes that stand for a failure of the server's. */
const failures = [status.UNKNOWN, status.INTERNAL, status.UNAVAILABLE, status.DATA_LOSS, status.ABORTED];

function grpcOutcome(code: status, details: string): Outcome {
  const told = status[code];
  return failures.includes(code) ? { told, fault: `${told} ${details}` } : { told };
}

const asIs = (bytes: unknown) => Buffer.from(bytes as Uint8Array);

function metadataOf({ metadata }: GrpcSent): Metadata {
  const told = new Metadata();
  for (const [name, value] of Object.entries(metadata)) if (value !== "") told.set(name, value);
  return told;
}

function called(client: Client, request: GrpcSent): Promise<Outcome> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(request.path, asIs, asIs, request.bytes, metadataOf(request), (error) => {
      resolve(error === null ? { told: "OK" } : grpcOutcome(error.code, error.details));
    });
  });
}

function streamed(client: Client, request: GrpcSent): Promise<Outcome> {
  return new Promise((resolve) => {
    const stream = client.makeServerStreamRequest(request.path, asIs, asIs, request.bytes, metadataOf(request));
    stream.once("data", () => {
      resolve({ told: "OK" });
      stream.cancel();
    });
    stream.on("error", (error: Error & { code: status; details: string }) =>
      resolve(grpcOutcome(error.code, error.details)),
    );
    stream.once("end", () => resolve({ told: "OK, nothing" }));
  });
}

async function written(url: string, { bytes }: Extract<Sent, { over: "socket" }>): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const { promise: over, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    allowHalfOpen: true,
    socket: {
      data: (_, chunk) => {
        text += chunk.toString("latin1");
        resolve(text);
      },
      close: () => resolve(text),
      end: () => resolve(text),
      error: () => resolve(text),
    },
  });
  socket.write(bytes);
  // An answer to a whole request needs no end of it; what is not whole breaks off.
  await Promise.race([over, Bun.sleep(breakOffMs)]);
  socket.end();
  const answer = await over;
  socket.terminate();
  const told = /^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? "closed";
  // 505 is the right answer to a first line that names no version of HTTP.
  return Number(told) >= 500 && told !== "505" ? { told, fault: answer.slice(0, 300) } : { told };
}

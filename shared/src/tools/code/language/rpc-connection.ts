import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { SandboxProcess } from "../../../machine/sandbox/sandbox.ts";

/** A connection to a program that speaks JSON-RPC with `Content-Length` headers. */
export interface RpcConnection {
  /** Rejects with `rejected` and the program's message, or `unavailable` once it has ended. */
  request(method: string, params: unknown): Promise<unknown>;
  notify(method: string, params: unknown): void;
  /** Calls `hear` with the parameters of each such notification. */
  on(method: string, hear: (params: unknown) => void): void;
  /** Rejects with `unavailable` once the program has ended. */
  readonly ended: Promise<never>;
}

const message = z.looseObject({
  id: z.union([z.number(), z.string()]).nullish(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).nullish(),
});

const maxBytes = 64 * 1024 ** 2;
const headEnd = Buffer.from("\r\n\r\n");

/**
 * Speaks to the process until it ends. `answer` answers what the program asks. What it writes is
 * bounded; a program that writes more is ended.
 */
export function connectRpc(
  process: Pick<SandboxProcess, "stdin" | "stdout" | "kill">,
  answer: (method: string, params: unknown) => unknown,
): RpcConnection {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const listeners = new Map<string, (params: unknown) => void>();
  const over = Promise.withResolvers<never>();
  // Nobody may be waiting for it.
  over.promise.catch(() => undefined);
  let ended: AppError | undefined;
  let asked = 0;
  const send = (content: object) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...content });
    process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    process.stdin.flush();
  };
  const receive = (raw: unknown) => {
    const parsed = message.safeParse(raw);
    if (!parsed.success) return;
    const { id, method, params, result, error } = parsed.data;
    if (method !== undefined && id != null) return send({ id, result: answer(method, params) ?? null });
    if (method !== undefined) return listeners.get(method)?.(params);
    const pending = typeof id === "number" ? waiting.get(id) : undefined;
    if (error != null)
      pending?.reject(new AppError("rejected", `The language server says: ${error.message.slice(0, 300)}`));
    else pending?.resolve(result);
  };
  const end = (error: AppError) => {
    ended = error;
    over.reject(error);
    for (const { reject } of waiting.values()) reject(error);
  };
  void readMessages(process.stdout, receive).then(
    () => end(new AppError("unavailable", "The language server ended.")),
    () => {
      process.kill();
      end(new AppError("unavailable", "The language server's answers cannot be read."));
    },
  );
  return {
    request(method, params) {
      const pending = Promise.withResolvers<unknown>();
      const id = ++asked;
      waiting.set(id, pending);
      if (ended === undefined) send({ id, method, params });
      else pending.reject(ended);
      // Nobody may be waiting for it any more.
      pending.promise.catch(() => undefined);
      return pending.promise;
    },
    notify: (method, params) => {
      if (ended === undefined) send({ method, params });
    },
    on: (method, hear) => void listeners.set(method, hear),
    ended: over.promise,
  };
}

async function readMessages(stream: ReadableStream<Uint8Array>, receive: (raw: unknown) => void): Promise<void> {
  let held = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error("Too much was written.");
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const end = held.indexOf(headEnd);
      if (end < 0) break;
      const length = Number(/content-length:\s*(\d{1,9})/i.exec(held.subarray(0, end).toString("latin1"))?.[1]);
      if (Number.isNaN(length)) throw new Error("There is no length.");
      const from = end + headEnd.length;
      if (held.length < from + length) break;
      receive(JSON.parse(held.subarray(from, from + length).toString("utf8")));
      held = held.subarray(from + length);
    }
  }
}

import * as z from "zod";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { traced } from "../../core/trace.ts";
import { isEventStream } from "../../http/sse.ts";

/** Bounds of one call to another agent. Times in milliseconds, sizes in bytes. */
export type FetchBounds = {
  /** Until a response begins, and until a response that is not a stream has ended. */
  readonly responseMs: number;
  /** Silence on a stream, heartbeats counted, after which it is taken for dead. */
  readonly idleMs: number;
  /** Size of a response that is not a stream. */
  readonly maxBytes: number;
  /** What errors call the agent. */
  readonly agent?: string;
};

/** The part of `fetch` that clients use, so that tests and proxies can replace it. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const rpcErrorAnswer = z.looseObject({ jsonrpc: z.literal("2.0"), error: z.looseObject({ code: z.number() }) });

const codes: Readonly<Record<number, ErrorCode>> = {
  401: "unauthorized",
  403: "forbidden",
  413: "too_large",
  429: "rate_limited",
  502: "unavailable",
  503: "unavailable",
  504: "timeout",
};

/**
 * A fetch that cannot hang and cannot be flooded: it rejects with `timeout` or `too_large`, with
 * the code of an HTTP status that is no A2A answer, and follows no redirect, because the address
 * called is the one that was approved.
 */
export function boundedFetch(plain: Fetch, headers: Readonly<Record<string, string>>, bounds: FetchBounds): Fetch {
  const inner = traced(plain);
  const own = Object.fromEntries(new Headers(headers));
  const { agent = "The agent" } = bounds;
  return async (input, init = {}) => {
    const late = new AbortController();
    const timer = setTimeout(
      () => late.abort(new AppError("timeout", `${agent} did not answer in time`)),
      bounds.responseMs,
    );
    const signals = init.signal ? [init.signal, late.signal] : [late.signal];
    try {
      const response = await inner(input, {
        ...init,
        redirect: "error",
        headers: { ...own, ...Object.fromEntries(new Headers(init.headers)) },
        signal: AbortSignal.any(signals),
      });
      const code = codes[response.status];
      if (code !== undefined) {
        const answer = await buffered(response, bounds.maxBytes, agent);
        if (isRpcError(await answer.clone().text())) return answer;
        throw new AppError(code, `${agent} answered with HTTP status ${response.status}`);
      }
      return isEventStream(response)
        ? withIdleLimit(response, bounds.idleMs, agent)
        : await buffered(response, bounds.maxBytes, agent);
    } catch (error) {
      init.signal?.throwIfAborted();
      late.signal.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Whether an answer says in JSON-RPC what went wrong, which is more than its status does. */
function isRpcError(body: string): boolean {
  try {
    return rpcErrorAnswer.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}

async function buffered(response: Response, maxBytes: number, agent: string): Promise<Response> {
  const { status, headers } = response;
  // An answer that says how long it is, and is neither packed nor sent in pieces, cannot be longer.
  // As a stream it costs more than all else of a small answer.
  const isPlain = !headers.has("Content-Encoding") && !headers.has("Transfer-Encoding");
  const length = isPlain ? headers.get("Content-Length") : null;
  if (length !== null && Number(length) <= maxBytes)
    return new Response(await response.arrayBuffer(), { status, headers });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new AppError("too_large", `${agent} gave an answer that is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const body = response.body === null ? null : Buffer.concat(chunks);
  return new Response(body, { status, headers });
}

function withIdleLimit(response: Response, idleMs: number, agent: string): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) return response;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { promise: idle, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new AppError("timeout", `${agent} fell silent in a stream`)), idleMs);
      try {
        const { done, value } = await Promise.race([reader.read(), idle]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        reader.cancel(error).catch(() => undefined);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

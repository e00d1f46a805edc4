import type { FetchLike } from "@modelcontextprotocol/client";
import { AppError } from "../../../core/errors.ts";
import { traced } from "../../../core/trace.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";

/** Which server the requests are for, and how others are reached. */
export type HttpFetchOptions = {
  readonly url: URL;
  /** For all other hosts, such as those the server names for signing in. */
  readonly egress: Egress;
  readonly proxy: string | undefined;
  readonly maxMessageBytes: number;
};

const aside = { timeoutMs: 20_000, maxBytes: 2 ** 20 };

/**
 * Fetches for one server's transport. Requests to the server's own origin, which its entry names,
 * go directly or through the proxy; redirects elsewhere are never followed, and every message is
 * size-limited. All other requests go through the egress policy, so that nothing a server names
 * leads into this network.
 */
export function httpFetch({ url: own, egress, proxy, maxMessageBytes }: HttpFetchOptions): FetchLike {
  // Only a message belongs to a run: the stream beside them outlives the run that opened it.
  const send = traced(fetch);
  return async (target, init) => {
    const url = new URL(String(target));
    if (url.origin !== own.origin) return fetchAside(egress, url, init);
    const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
    const way = proxy !== undefined && !loopback ? { proxy } : {};
    const response = await (init?.method === "POST" ? send : fetch)(url, { ...init, ...way, redirect: "manual" });
    const { body } = response;
    if (body === null) return response;
    const bounded = body.pipeThrough(messageBound(maxMessageBytes));
    return new Response(bounded, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

/**
 * Fails a stream with more than this many bytes between two empty lines, which end the messages of
 * an event stream. Lines end with a line feed, with or without a carriage return before it.
 */
export function messageBound(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let lineSize = 0;
  let last = 0;
  return new TransformStream({
    transform(bytes, controller) {
      let isTooLong = false;
      const take = (until: number, from: number) => {
        lineSize += until - from;
        size += until - from;
        isTooLong ||= size > maxBytes;
      };
      let from = 0;
      for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
        take(at, from);
        const before = at === 0 ? last : bytes[at - 1];
        const isEmpty = lineSize === 0 || (lineSize === 1 && before === carriageReturn);
        size = isEmpty ? 0 : size + 1;
        lineSize = 0;
        from = at + 1;
      }
      take(bytes.length, from);
      last = bytes.at(-1) ?? last;
      if (isTooLong)
        return controller.error(
          new AppError("too_large", `The server sent a message of more than ${bytesInWords(maxBytes)}.`),
        );
      controller.enqueue(bytes);
    },
  });
}

const newline = 10;
const carriageReturn = 13;

async function fetchAside(egress: Egress, url: URL, init: RequestInit | undefined): Promise<Response> {
  const { method = "GET", body, headers, signal } = init ?? {};
  if (method !== "GET" && method !== "POST")
    throw new AppError("forbidden", `A ${method} request to ${url.host}, which is not the server's own, is not made.`);
  const text = body === undefined || body === null ? undefined : String(body);
  const answer = await egress.fetch({
    url,
    headers: Object.fromEntries(new Headers(headers)),
    ...(text !== undefined && { body: text }),
    signal: signal ?? new AbortController().signal,
    ...aside,
  });
  const empty = answer.status === 204 || answer.status === 304;
  return new Response(empty ? null : Uint8Array.from(answer.body), {
    status: answer.status,
    headers: withoutCoding(answer.headers),
  });
}

/** Drops the coding headers: the body is already decompressed. */
function withoutCoding(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !["content-encoding", "content-length", "transfer-encoding"].includes(name),
    ),
  );
}

import type { ProviderWire, WireAnswer } from "./wire.ts";

/** What a provider's server does with one request. */
export type ProviderReply = WireAnswer & {
  /** Sends an error with this status in place of an answer. */
  readonly status?: number;
  readonly message?: string;
  /** The error's whole body, if it is not the usual one. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Falls silent after this many frames; the connection stays open. */
  readonly stallAfter?: number;
  /** Ends the body after this many frames. */
  readonly cutAfter?: number;
  /** Sent before the body ends early. */
  readonly lastFrame?: Uint8Array;
};

/** One request as the server got it. */
export type ProviderRequest = {
  readonly path: string;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at each provider's own shape
  readonly body: any;
  /** Whether the client closed the connection before the answer had ended. */
  dropped: boolean;
};

/**
 * A provider's server on loopback that speaks its protocol; requests past the end of the list get
 * status 400. The caller closes it.
 */
export function startProvider(wire: ProviderWire, replies: readonly ProviderReply[]) {
  const requests: ProviderRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (!wire.path.test(pathname))
        return Response.json({ error: { message: `no such path ${pathname}` } }, { status: 404 });
      const seen = { path: pathname + search, headers: request.headers, body: await request.json(), dropped: false };
      const reply = replies[requests.push(seen) - 1] ?? { status: 400, message: "the script has ended" };
      const { status, message = "scripted", headers = {} } = reply;
      if (status !== undefined) return Response.json(reply.body ?? wire.error(status, message), { status, headers });
      return new Response(bodyOf(wire.frames(reply), reply, seen), {
        headers: { "content-type": wire.contentType, ...headers },
      });
    },
  });
  return {
    baseUrl: `${server.url.origin}${wire.base}`,
    requests: requests as readonly ProviderRequest[],
    close: () => server.stop(true),
  };
}

function bodyOf(
  whole: readonly Uint8Array[],
  { stallAfter, cutAfter, lastFrame }: ProviderReply,
  seen: ProviderRequest,
) {
  const frames = lastFrame === undefined ? whole : [...whole.slice(0, cutAfter), lastFrame];
  let at = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at === stallAfter) return new Promise(() => undefined);
      const next = at === cutAfter && lastFrame === undefined ? undefined : frames[at++];
      // Each frame in a packet of its own, as a model writes it.
      await Bun.sleep(1);
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
    cancel() {
      seen.dropped = true;
    },
  });
}

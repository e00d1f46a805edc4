/** One notification as a receiver got it. */
export type Received = { readonly path: string; readonly headers: Headers; readonly body: unknown };

/** A receiver of notifications on a free port. */
export type Receiver = AsyncDisposable & {
  readonly url: string;
  /** `127.0.0.1:PORT`, as host lists write it. */
  readonly host: string;
  readonly received: Received[];
  /** If set, answers in place of 204. */
  answer: ((request: Request) => Response) | undefined;
};

/**
 * Starts one, on a free port or the given one. A notification that it answers with an error is not
 * recorded as received.
 */
export function startReceiver(port = 0): Receiver {
  const received: Received[] = [];
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body: unknown = await request.json();
      const answer = receiver.answer?.(request) ?? new Response(null, { status: 204 });
      if (answer.ok) received.push({ path: new URL(request.url).pathname, headers: request.headers, body });
      return answer;
    },
  });
  const host = `127.0.0.1:${server.port}`;
  const receiver: Receiver = {
    url: `http://${host}/hook`,
    host,
    received,
    answer: undefined,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return receiver;
}

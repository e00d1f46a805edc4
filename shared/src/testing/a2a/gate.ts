/** A route to an agent that a test can close; the card names this route as the agent's address. */
export type GateForTest = AsyncDisposable & {
  readonly url: string;
  /** Closes it: nothing listens until it is opened again. */
  close(): Promise<void>;
  open(): void;
  /** Whether the agent's answers to this method are lost. */
  loses(method: string, isLost: boolean): void;
};

/** Opens a route to an agent on a real port. */
export function gateForTest(inner: string): GateForTest {
  const lost = new Set<string>();
  const listen = (port: number): Bun.Server<undefined> =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      async fetch(request) {
        const { pathname, search } = new URL(request.url);
        const body = await request.text();
        const { method, headers } = request;
        const sent = { method, headers: { ...headers.toJSON(), host: new URL(inner).host } };
        const answer = await fetch(`${inner}${pathname}${search}`, { ...sent, ...(body !== "" && { body }) });
        if (lost.has(body && JSON.parse(body).method)) return new Response("lost", { status: 502 });
        if (!pathname.endsWith("agent-card.json")) return answer;
        return new Response((await answer.text()).replaceAll(inner, origin), { headers: answer.headers });
      },
    });
  let server = listen(0);
  const { origin, port } = server.url;
  return {
    url: origin,
    close: () => server.stop(true),
    open: () => {
      server = listen(Number(port));
    },
    loses: (method, isLost) => void (isLost ? lost.add(method) : lost.delete(method)),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/**
 * A way to an agent that a test can close, with the agent's card saying that the agent is there.
 */
export type GateForTest = AsyncDisposable & {
  readonly url: string;
  /** Nothing listens until it is opened again. */
  close(): Promise<void>;
  open(): void;
  /** Whether what the agent answers to this method is lost on the way. */
  loses(method: string, isLost: boolean): void;
};

/** Opens one to an agent on a real port. */
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

/** A test site's answer for one page. */
export type Handler = (request: Request) => Response | Promise<Response>;

/**
 * A web site on a free loopback port, by path; `hits` are the requested paths. Ends with
 * `await using`. For tests.
 */
export function startSite(pages: Readonly<Record<string, Handler>>) {
  const hits: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      hits.push(pathname);
      return pages[pathname]?.(request) ?? new Response("no such page", { status: 404 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    host: `127.0.0.1:${server.port}`,
    hits,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** An answer of the given media type. */
export function served(body: string | Uint8Array<ArrayBuffer>, type: string, status = 200): Handler {
  return () => new Response(body, { status, headers: { "content-type": type } });
}

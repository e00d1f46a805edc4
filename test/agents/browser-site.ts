/** A request to a test's server: its address with the query, its body as text, its cookies. */
export type SeenRequest = { readonly url: URL; readonly body: string; readonly cookie: string };

/** A web site on a free port, with every request to it. */
export type Site = {
  readonly origin: string;
  readonly host: string;
  readonly requests: SeenRequest[];
  stop(): Promise<void>;
};

type Served = string | Response;

/** Serves what `answer` returns; a text is a page. */
export function startSite(answer: (request: SeenRequest, signal: AbortSignal) => Served | Promise<Served>): Site {
  const requests: SeenRequest[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const seen = {
        url: new URL(request.url),
        body: await request.text(),
        cookie: request.headers.get("cookie") ?? "",
      };
      requests.push(seen);
      const answered = await answer(seen, request.signal);
      if (typeof answered !== "string") return answered;
      return new Response(`<!doctype html>${answered}`, { headers: { "content-type": "text/html; charset=utf-8" } });
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return { origin: `http://${host}`, host, requests, stop: () => server.stop(true) };
}

/**
 * A form over three pages: the name, the file, a final review; `receipt` is a file to download.
 * Cookies carry the name.
 */
export function startFormSite(): Site {
  return startSite(({ url, body, cookie }) => {
    switch (url.pathname) {
      case "/":
        return `<title>Application</title><h1>Step 1 of 3</h1><form method=post action=/file><label>Full name <input name=who></label>
          <label>Field <select name=field><option>Sales<option>Research</select></label><button>Next</button></form>`;
      case "/file":
        return page(`${new URLSearchParams(body).get("who")}/${new URLSearchParams(body).get("field")}`);
      case "/check":
        return `<h1>Step 3 of 3</h1><p>${cookie}<form method=post action=/done><button>Send application</button></form>`;
      case "/done":
        return `<h1>Thank you, ${/who=([^;/]*)/.exec(cookie)?.[1]}</h1><a href=/receipt>Receipt</a>`;
      case "/receipt":
        return new Response("receipt 4711", {
          headers: { "content-disposition": 'attachment; filename="receipt.txt"' },
        });
      default:
        return new Response("not here", { status: 404 });
    }
  });
}

function page(who: string): Response {
  return new Response(
    `<!doctype html><h1>Step 2 of 3</h1><form method=post action=/check enctype=multipart/form-data><label>CV <input type=file name=cv></label><button>Next</button></form>`,
    { headers: { "content-type": "text/html", "set-cookie": `who=${encodeURIComponent(who).replace("%2F", "/")}` } },
  );
}

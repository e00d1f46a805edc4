import { resolve } from "node:path";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { lazily } from "manyhands/internal/core/async/lazy";
import type { RestEndpoint } from "../rest/endpoint.ts";
import { chartFrame } from "./chart-frame.ts";
import { type ConsoleFile, consoleFiles } from "./console-files.ts";
import { framePage, framePolicy } from "./frame-page.ts";

/**
 * Pages may run their own scripts and call this server, and nothing else. What they frame is the
 * page below, and documents that the browser shows itself.
 */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-src 'self' blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/**
 * The pages for people: the console at `/`, its scripts and style sheet, and the API's description.
 * None of them contains secrets.
 */
export function pagesApp(
  endpoints: readonly RestEndpoint[],
  about: { readonly version: string; readonly publicUrl: string; readonly signIn?: boolean },
): Hono {
  const app = new Hono();
  // Describing every schema takes a tenth of a start, and few look at it.
  const docs = lazily(async () => (await import("./docs-page.ts")).docsPage(endpoints, about));
  for (const path of ["/", "/docs", "/console/*"]) app.use(path, guarded);
  app.get("/", async (c) => {
    const page = (await consoleFiles.get()).get("index.html");
    const text = new TextDecoder().decode(page?.bytes);
    return c.html(about.signIn ? text.replace("<body>", '<body data-sign-in="auth/sign-in">') : text);
  });
  app.get("/console/:file{[a-z][a-z0-9-]*\\.(?:js|css)}", async (c, next) => {
    const file = (await consoleFiles.get()).get(c.req.param("file"));
    return file === undefined ? next() : fileResponse(c, file);
  });
  app.get("/frame", (c) =>
    c.html(framePage, 200, {
      "Content-Security-Policy": framePolicy,
      "X-DNS-Prefetch-Control": "off",
      "Cache-Control": "no-cache",
    }),
  );
  app.get("/frame/chart", async (c) => {
    const { file, policy: ofCharts } = await chartFrame.get();
    const response = fileResponse(c, file);
    response.headers.set("Content-Security-Policy", ofCharts);
    response.headers.set("X-DNS-Prefetch-Control", "off");
    response.headers.set("Cache-Control", "no-cache");
    return response;
  });
  app.get("/docs", async (c) => c.html(await docs.get()));
  app.get("/style.css", () => new Response(Bun.file(resolve(import.meta.dir, "style.css"))));
  return app;
}

/** A file as the browser asked for it: compressed if it may be, nothing if it has it already. */
function fileResponse(c: Context, { type, bytes, gzip, etag }: ConsoleFile): Response {
  const headers = { ETag: etag, Vary: "Accept-Encoding" };
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
  const compressed = c.req.header("accept-encoding")?.includes("gzip") === true;
  return c.body(compressed ? gzip : bytes, 200, {
    ...headers,
    "Content-Type": type,
    ...(compressed && { "Content-Encoding": "gzip" }),
  });
}

const guarded: MiddlewareHandler = async (c, next) => {
  await next();
  c.header("Content-Security-Policy", policy);
  c.header("Cache-Control", "no-cache");
};

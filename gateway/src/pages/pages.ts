import { resolve } from "node:path";
import { Hono, type MiddlewareHandler } from "hono";
import type { Endpoint } from "../rest/endpoint.ts";
import { docsPage } from "./docs-page.ts";

/** Pages may run their own scripts and call this server, and nothing else. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data: blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

const consoleFolder = resolve(import.meta.dir, "../console");

/**
 * The pages for people: the console at `/`, its modules, and the API's description. None of them
 * contains secrets.
 */
export function pagesApp(
  endpoints: readonly Endpoint[],
  about: { readonly version: string; readonly publicUrl: string; readonly signIn?: boolean },
): Hono {
  const app = new Hono();
  const docs = docsPage(endpoints, about);
  for (const path of ["/", "/docs", "/console/*"]) app.use(path, guarded);
  app.get("/", async (c) => {
    const html = await Bun.file(resolve(consoleFolder, "index.html")).text();
    return c.html(about.signIn ? html.replace("<body>", '<body data-sign-in="auth/sign-in">') : html);
  });
  app.get("/console/:file{[a-z][a-z-]*\\.(?:js|css)}", async (c, next) => {
    const file = Bun.file(resolve(consoleFolder, c.req.param("file")));
    return (await file.exists()) ? new Response(file) : next();
  });
  app.get("/docs", (c) => c.html(docs));
  app.get("/style.css", () => new Response(Bun.file(resolve(import.meta.dir, "style.css"))));
  return app;
}

const guarded: MiddlewareHandler = async (c, next) => {
  await next();
  c.header("Content-Security-Policy", policy);
  c.header("Cache-Control", "no-cache");
};

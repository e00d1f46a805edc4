import { resolve } from "node:path";
import { Hono } from "hono";
import type { Endpoint } from "../rest/endpoint.ts";
import { docsPage } from "./docs-page.ts";

/** What pages may do: run their own scripts, ask this server, and nothing of anyone else's. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/** The pages for people. */
export function pagesApp(
  endpoints: readonly Endpoint[],
  about: { readonly version: string; readonly publicUrl: string },
): Hono {
  const app = new Hono();
  const docs = docsPage(endpoints, about);
  app.use("/docs", async (c, next) => {
    await next();
    c.header("Content-Security-Policy", policy);
  });
  app.get("/docs", (c) => c.html(docs));
  app.get("/style.css", () => new Response(Bun.file(resolve(import.meta.dir, "style.css"))));
  return app;
}

import { Hono } from "hono";
import * as z from "zod";
import { type Registration, receiptPage, registrationPages } from "./registration-pages.ts";

/** A small web site with one form over three pages, up until it is closed. */
export interface RegistrationSite {
  /** Its address, with a slash at the end. */
  readonly url: string;
  /** `host:port` */
  readonly host: string;
  /** What was registered, in order. */
  readonly registrations: readonly Registration[];
  close(): Promise<void>;
}

const form = z.record(z.string(), z.string().max(200));

/** Starts it on a free port of loopback. An address that has registered before is shown its number again, so nobody is registered twice. */
export function startRegistrationSite(): RegistrationSite {
  const registrations: Registration[] = [];
  const app = new Hono();
  app.get("/", (c) => c.html(pageAt(0, {})));
  app.post("/page/:number", async (c) => {
    const given = form.parse(await c.req.parseBody());
    const next = Number(c.req.param("number"));
    return c.html(pageAt(next, given));
  });
  app.post("/register", async (c) => {
    const given = form.parse(await c.req.parseBody());
    const known = registrations.find((one) => one.given.email === given.email);
    const number = known?.number ?? `MH-${4101 + registrations.length}`;
    if (known === undefined) registrations.push({ number, given });
    return c.redirect(`/receipt/${number}`, 303);
  });
  app.get("/receipt/:number", (c) => {
    const made = registrations.find(({ number }) => number === c.req.param("number"));
    return made === undefined ? c.notFound() : c.html(receiptPage(made));
  });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
  return {
    url: server.url.href,
    host: server.url.host,
    registrations,
    close: () => server.stop(true),
  };
}

function pageAt(index: number, given: Readonly<Record<string, string>>): string {
  const page = registrationPages[index] ?? registrationPages[0];
  return page?.(given) ?? "";
}

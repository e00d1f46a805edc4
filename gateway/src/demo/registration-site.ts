import { Hono } from "hono";
import { html } from "hono/html";
import * as z from "zod";

/** A small web site with one form over three pages, running until closed. */
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

/**
 * Starts it on a free port of loopback. An address that has registered before is shown its number
 * again, so nobody is registered twice.
 */
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

/** What somebody registered with, by the names of the form's fields. */
export type Registration = { readonly number: string; readonly given: Readonly<Record<string, string>> };

type Given = Readonly<Record<string, string>>;
type Page = (given: Given) => string;

/** The pages of the form. Values from earlier pages are carried in hidden fields. */
const registrationPages: readonly Page[] = [
  (given) =>
    page(
      "Register for parcel pickup, page 1 of 3",
      ask(
        "/page/1",
        given,
        "Next",
        html`<label>Full name <input name="name" required /></label>
          <label>E-mail <input name="email" type="email" required /></label>`,
      ),
    ),
  (given) =>
    page(
      "Register for parcel pickup, page 2 of 3",
      ask(
        "/page/2",
        given,
        "Next",
        html`<label
            >Country
            <select name="country" required>
              <option value="">Choose one</option>
              <option>Denmark</option>
              <option>Norway</option>
              <option>Sweden</option>
            </select></label
          >
          <label>First pickup <input name="first" type="date" required /></label>`,
      ),
    ),
  (given) =>
    page(
      "Register for parcel pickup, page 3 of 3",
      ask(
        "/register",
        given,
        "Register",
        html`<fieldset>
            <legend>Time of day</legend>
            <label><input type="radio" name="time" value="Morning" required /> Morning</label>
            <label><input type="radio" name="time" value="Afternoon" /> Afternoon</label>
          </fieldset>
          <label><input type="checkbox" name="newsletter" value="yes" /> Newsletter</label>`,
      ),
    ),
];

/** The page shown after registration. */
function receiptPage({ number, given }: Registration): string {
  return page("You are registered", html`<p>Thank you, ${given.name}. Your registration number is ${number}.</p>`);
}

type Html = ReturnType<typeof html>;

function ask(action: string, given: Given, button: string, fields: Html): Html {
  const hidden = Object.entries(given).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form method="post" action="${action}">${hidden}${fields}<button>${button}</button></form>`;
}

function page(title: string, body: Html): string {
  return `<!doctype html>${html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>${title}</title>
      <style>
        body { font: 16px/1.5 sans-serif; max-width: 32rem; margin: 3rem auto }
        label, fieldset { display: block; margin: 0 0 1rem }
      </style>
    </head>
    <body>
      <h1>${title}</h1>
      ${body}
    </body>
  </html>`}`;
}

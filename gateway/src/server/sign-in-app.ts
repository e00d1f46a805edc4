import { type Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { AuthStore } from "manyhands/internal/auth/auth-store";
import { isFromOwnPage, type SessionFinder, sessionCookie } from "manyhands/internal/auth/identify";
import type { Oidc } from "manyhands/internal/auth/oidc";
import { AppError } from "manyhands/internal/core/errors";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import type { ReportRefusal } from "manyhands/internal/http/challenge";
import { loopbackNames } from "manyhands/internal/http/loopback-guard";
import * as z from "zod";
import { html } from "../pages/html.ts";

/** What signing in needs. */
export type SignIn = {
  readonly oidc: Oidc;
  readonly store: Pick<AuthStore, "signIn" | "signOut"> & SessionFinder;
  readonly sessionMs: number;
  /** Receives why somebody was not signed in. */
  readonly refused?: ReportRefusal;
};

/** The cookie of a browser that is at the issuer. */
const underWay = "manyhands-sign-in";
const underWaySeconds = 600;

const kept = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() });

/**
 * Signing in to the console at an issuer, and out again. A session is a cookie that only our own
 * pages may use.
 */
export function signInApp({ oidc, store, sessionMs, refused }: SignIn, publicUrl: string): Hono {
  const base = withoutLastSlashes(publicUrl);
  const callback = `${base}/auth/callback`;
  const { protocol, pathname } = new URL(`${base}/`);
  const shared = { httpOnly: true, sameSite: "Lax", secure: protocol === "https:" } as const;
  const place = { ...shared, path: pathname };
  const passing = { ...shared, path: `${pathname}auth` };
  const app = new Hono();
  app.use("/auth/*", async (c, next) => {
    await next();
    if (c.error instanceof AppError) {
      tellWhy(c, c.error, refused);
      if (c.req.header("accept")?.includes("text/html")) c.res = failedPage(c.error, base);
    }
    c.header("Cache-Control", "no-store");
  });
  app.get("/auth/sign-in", async (c) => {
    // What is kept under one name of this machine is not there when the issuer sends back to
    // another.
    if (isOtherName(new URL(c.req.url), callback)) return c.redirect(`${base}/auth/sign-in`);
    const { url, kept } = await oidc.begin(callback);
    setCookie(c, underWay, encodeURIComponent(JSON.stringify(kept)), { ...passing, maxAge: underWaySeconds });
    return c.redirect(url.href);
  });
  app.get("/auth/callback", async (c) => {
    const state = keptIn(getCookie(c, underWay));
    deleteCookie(c, underWay, passing);
    const returned = new URL(callback);
    returned.search = new URL(c.req.url).search;
    const caller = await oidc.finish(returned, callback, state).catch(inWordsForPeople);
    const secret = await store.signIn(caller, sessionMs);
    setCookie(c, sessionCookie, secret, { ...place, maxAge: Math.floor(sessionMs / 1000) });
    return c.redirect(`${base}/`);
  });
  app.get("/auth/session", async (c) => {
    const caller = await store.session(getCookie(c, sessionCookie) ?? "");
    return c.json(caller === undefined ? {} : { principal: caller.principal, scopes: [...caller.scopes] });
  });
  app.post("/auth/sign-out", async (c) => {
    if (!isFromOwnPage(c.req.raw.headers)) throw new AppError("forbidden", "Only the console itself may sign you out.");
    await store.signOut(getCookie(c, sessionCookie) ?? "");
    deleteCookie(c, sessionCookie, place);
    return c.body(null, 204);
  });
  return app;
}

function isOtherName(here: URL, there: string): boolean {
  const { hostname, port } = new URL(there);
  const both = loopbackNames.has(here.hostname) && loopbackNames.has(hostname);
  return both && here.port === port && here.hostname !== hostname;
}

/** A refusal is worded for programs; whoever signs in has no token to send. */
function inWordsForPeople(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "unauthorized") throw error;
  const { cause } = error;
  throw new AppError("unauthorized", "You were not signed in. The log of the gateway says why.", { cause });
}

function tellWhy({ req }: Context, { cause, message, status }: AppError, refused: ReportRefusal | undefined): void {
  if (status !== 401) return;
  const reason = cause instanceof Error ? cause.message : message;
  refused?.({ method: req.method, path: req.path.slice(0, 200), status, reason }, req.raw);
}

function failedPage({ message, status }: AppError, base: string): Response {
  const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><title>Not signed in</title><p>${message}</p><p><a href="${base}/">Back</a></p></html>`;
  const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'" };
  return new Response(page.html, { status, headers });
}

function keptIn(cookie: string | undefined) {
  try {
    return kept.parse(JSON.parse(decodeURIComponent(cookie ?? "")));
  } catch {
    const reason = "This sign-in was not started here, or was started too long ago. Sign in again.";
    throw new AppError("unauthorized", reason);
  }
}

import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { AuthStore } from "manyhands/internal/auth/auth-store";
import { isFromOwnPage, type SessionFinder, sessionCookie } from "manyhands/internal/auth/identify";
import type { Oidc } from "manyhands/internal/auth/oidc";
import { AppError } from "manyhands/internal/core/errors";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import * as z from "zod";

/** What signing in needs. */
export type SignIn = {
  readonly oidc: Oidc;
  readonly store: Pick<AuthStore, "signIn" | "signOut"> & SessionFinder;
  readonly sessionMs: number;
};

/** The cookie of a browser that is at the issuer. */
const underWay = "manyhands-sign-in";
const underWaySeconds = 600;

const kept = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string() });

/**
 * Signing in to the console at an issuer, and out again. A session is a cookie that only our own
 * pages may use.
 */
export function signInApp({ oidc, store, sessionMs }: SignIn, publicUrl: string): Hono {
  const base = withoutLastSlashes(publicUrl);
  const callback = `${base}/auth/callback`;
  const { protocol, pathname } = new URL(`${base}/`);
  const shared = { httpOnly: true, sameSite: "Lax", secure: protocol === "https:" } as const;
  const place = { ...shared, path: pathname };
  const passing = { ...shared, path: `${pathname}auth` };
  const app = new Hono();
  app.use("/auth/*", async (c, next) => {
    await next();
    c.header("Cache-Control", "no-store");
  });
  app.get("/auth/sign-in", async (c) => {
    const { url, kept } = await oidc.begin(callback);
    setCookie(c, underWay, encodeURIComponent(JSON.stringify(kept)), { ...passing, maxAge: underWaySeconds });
    return c.redirect(url.href);
  });
  app.get("/auth/callback", async (c) => {
    const state = keptIn(getCookie(c, underWay));
    deleteCookie(c, underWay, passing);
    const returned = new URL(callback);
    returned.search = new URL(c.req.url).search;
    const caller = await oidc.finish(returned, callback, state);
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

function keptIn(cookie: string | undefined) {
  try {
    return kept.parse(JSON.parse(decodeURIComponent(cookie ?? "")));
  } catch (cause) {
    throw new AppError(
      "unauthorized",
      "This sign-in was not started here, or was started too long ago. Sign in again.",
      { cause },
    );
  }
}

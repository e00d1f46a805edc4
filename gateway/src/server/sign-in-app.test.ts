import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import { callerNamed } from "manyhands/internal/core/caller";
import { AppError, errorCodes } from "manyhands/internal/core/errors";
import { type SignIn, signInApp } from "./sign-in-app.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-sign-in-"));
const store = openAuthStore(join(home, "auth.db"));
afterAll(async () => {
  await store.close();
  await rm(home, { recursive: true });
});

/** An issuer that lets everybody in as ann. */
const oidc = {
  begin: async () => ({
    url: new URL("https://issuer.example/authorize"),
    kept: { state: "s", nonce: "n", verifier: "v" },
  }),
  finish: async () => callerNamed("ann"),
};

/** The cookies of a sign-in: that of the way to the issuer, and the session's. */
async function cookiesAt(publicUrl: string): Promise<readonly string[]> {
  const app = signInApp({ oidc, store, sessionMs: 3_600_000 }, publicUrl);
  const away = await app.request("/auth/sign-in");
  const [passing = ""] = away.headers.getSetCookie();
  const back = await app.request("/auth/callback?code=c&state=s", { headers: { cookie: passing.split(";")[0] ?? "" } });
  const session = back.headers.getSetCookie().filter((cookie) => cookie.startsWith("manyhands-session="));
  expect([away.status, back.status, session.length]).toEqual([302, 302, 1]);
  return [passing, ...session];
}

const attributes = (cookie: string) => cookie.split("; ").slice(1);

test("behind https the cookies are sent over https alone, and never to scripts or other sites", async () => {
  for (const cookie of await cookiesAt("https://agents.example/team"))
    expect(attributes(cookie)).toEqual(expect.arrayContaining(["Secure", "HttpOnly", "SameSite=Lax"]));
  for (const cookie of await cookiesAt("http://127.0.0.1:4100")) {
    expect(attributes(cookie)).toEqual(expect.arrayContaining(["HttpOnly", "SameSite=Lax"]));
    expect(attributes(cookie)).not.toContain("Secure");
  }
});

test("the cookies are sent only below the gateway's own path, and end", async () => {
  const [passing = "", session = ""] = await cookiesAt("https://agents.example/team/");
  expect(attributes(passing)).toEqual(expect.arrayContaining(["Path=/team/auth", "Max-Age=600"]));
  expect(attributes(session)).toEqual(expect.arrayContaining(["Path=/team/", "Max-Age=3600"]));
});

/** The app, with what the issuer was told at each return. */
function signIns(publicUrl = "https://agents.example/team") {
  const told: unknown[] = [];
  const telling = {
    ...oidc,
    finish: async (...said: Parameters<SignIn["oidc"]["finish"]>) => {
      told.push(said.map((one) => (one instanceof URL ? one.href : one)));
      return callerNamed("ann", ["read"]);
    },
  };
  const app = signInApp({ oidc: telling, store, sessionMs: 3_600_000 }, publicUrl);
  app.onError(
    (error) => new Response(null, { status: error instanceof AppError ? errorCodes[error.code].status : 500 }),
  );
  return { app, told };
}

const nameAndValue = (cookie = "") => cookie.split(";")[0] ?? "";
const kept = JSON.stringify({ state: "s", nonce: "n", verifier: "v" });

test("whoever comes back is checked by what their own browser kept, and leaves it behind", async () => {
  const { app, told } = signIns();
  const away = await app.request("/auth/sign-in");
  expect(away.headers.get("location")).toBe("https://issuer.example/authorize");
  const cookie = nameAndValue(away.headers.getSetCookie()[0]);
  expect(decodeURIComponent(decodeURIComponent(cookie.split("=")[1] ?? ""))).toBe(kept);
  const back = await app.request("http://inside:4100/auth/callback?code=c&state=s", { headers: { cookie } });
  const callback = "https://agents.example/team/auth/callback";
  expect(told).toEqual([[`${callback}?code=c&state=s`, callback, JSON.parse(kept)]]);
  expect(back.headers.get("location")).toBe("https://agents.example/team/");
  expect(back.headers.getSetCookie().find((one) => one.startsWith("manyhands-sign-in=;"))).toContain("Max-Age=0");
  expect([away, back].map(({ headers }) => headers.get("cache-control"))).toEqual(["no-store", "no-store"]);
  const broken = ["", "manyhands-sign-in=x", `manyhands-sign-in=${encodeURIComponent('{"state":"s"}')}`];
  for (const other of broken)
    expect((await app.request("/auth/callback?code=c&state=s", { headers: { cookie: other } })).status).toBe(401);
  expect(told).toHaveLength(1);
});

test("a sign-in that was begun under another name of this machine goes on under the one that the issuer sends back to", async () => {
  const { app } = signIns("http://127.0.0.1:4100/team");
  const to = async (url: string) => (await app.request(url)).headers.get("location");
  expect(await to("http://localhost:4100/auth/sign-in")).toBe("http://127.0.0.1:4100/team/auth/sign-in");
  for (const url of ["http://127.0.0.1:4100", "http://localhost:8080", "http://agents.example:4100"])
    expect(await to(`${url}/auth/sign-in`)).toBe("https://issuer.example/authorize");
});

test("whoever is not signed in reads so on a page that leads back; the log has the reason", async () => {
  const finish = async () => {
    throw new AppError("unauthorized", "Send the token.", { cause: new Error("sign-in: <no> email") });
  };
  const begin = () => Promise.reject(new AppError("unavailable", "The issuer <away>."));
  const reasons: unknown[] = [];
  const refused: SignIn["refused"] = ({ path, status, reason }) => reasons.push([path, status, reason]);
  const app = signInApp({ oidc: { begin, finish }, store, sessionMs: 1, refused }, "https://agents.example/team");
  app.onError((error) => Response.json(String(error), { status: 401 }));
  const cookie = `manyhands-sign-in=${encodeURIComponent(encodeURIComponent(kept))}`;
  const came = (headers: Record<string, string>, path = "callback") =>
    app.request(`/auth/${path}`, { headers: { accept: "text/html,*/*", ...headers } });
  const page = await came({ cookie });
  expect([page.status, page.headers.get("content-type"), page.headers.get("content-security-policy")]).toEqual([
    ...[401, "text/html; charset=utf-8", "default-src 'none'"],
  ]);
  const text = await page.text();
  expect(text).toContain("You were not signed in. The log of the gateway says why.");
  expect(text).toContain('href="https://agents.example/team/"');
  expect(text).not.toContain("token");
  expect(await (await came({})).text()).toContain("was not started here");
  expect(await (await came({}, "sign-in")).text()).toContain("The issuer &lt;away&gt;.");
  expect((await came({ cookie, accept: "application/json" })).headers.get("content-type")).toContain("json");
  const started = expect.stringContaining("was not started here");
  expect(reasons).toEqual([
    ["/auth/callback", 401, "sign-in: <no> email"],
    ["/auth/callback", 401, started],
    ["/auth/callback", 401, "sign-in: <no> email"],
  ]);
});

test("a session says who is signed in, until one of our own pages signs out", async () => {
  const { app } = signIns();
  const secret = await store.signIn(callerNamed("ann", ["read"]), 60_000);
  const cookie = `manyhands-session=${secret}`;
  const session = async (headers: Record<string, string>) => (await app.request("/auth/session", { headers })).json();
  const signOut = (site: string) =>
    app.request("/auth/sign-out", { method: "POST", headers: { cookie, "sec-fetch-site": site } });
  expect([await session({ cookie }), await session({})]).toEqual([{ principal: "ann", scopes: ["read"] }, {}]);
  expect((await signOut("cross-site")).status).toBe(403);
  expect(await store.session(secret)).toBeDefined();
  const out = await signOut("same-origin");
  expect([out.status, out.headers.get("cache-control")]).toEqual([204, "no-store"]);
  expect(attributes(out.headers.getSetCookie()[0] ?? "")).toEqual(expect.arrayContaining(["Max-Age=0", "Path=/team/"]));
  expect([await session({ cookie }), await store.session(secret)]).toEqual([{}, undefined]);
});

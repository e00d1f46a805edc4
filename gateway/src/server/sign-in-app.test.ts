import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAuthStore } from "manyhands/internal/auth/auth-store";
import { callerNamed } from "manyhands/internal/core/caller";
import { signInApp } from "./sign-in-app.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-sign-in-"));
const store = openAuthStore(join(home, "auth.db"));
afterAll(async () => {
  store.close();
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

import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
// @ts-expect-error The package has no types.
import { Provider } from "oidc-provider";
import { startGatewayServer } from "../servers/gateway-server.ts";

const secret = "a-secret-of-this-client-of-32-chars";

/** An issuer whose forms take any name and consent to everything. */
async function startIssuer(callback: string) {
  const url = `http://127.0.0.1:${freePort()}`;
  const provider = new Provider(url, {
    clients: [{ client_id: "manyhands", client_secret: secret, redirect_uris: [callback] }],
    cookies: { keys: ["test"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    findAccount: (_: unknown, name: string) => ({
      accountId: name,
      claims: () => ({ sub: name, email: `${name}@team.example`, email_verified: name !== "eve" }),
    }),
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const server: Server = provider.listen(Number(new URL(url).port), resolve);
  await promise;
  return { url, close: () => server.close() };
}

/** A browser of one person: keeps cookies by port, and follows redirects until `stop` says so. */
function openBrowser() {
  const jars = new Map<string, Map<string, string>>();
  const visit = async (address: string | URL, init: RequestInit = {}) => {
    const url = new URL(address);
    const jar = jars.get(url.host) ?? new Map<string, string>();
    jars.set(url.host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...Object.fromEntries(new Headers(init.headers)), cookie };
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  const follow = async (first: Response, from: string, stop: (url: string) => boolean) => {
    let [answer, at] = [first, from];
    while (answer.status >= 300 && answer.status < 400) {
      at = new URL(answer.headers.get("location") ?? "", at).href;
      if (stop(at)) break;
      answer = await visit(at);
    }
    return { answer, at };
  };
  /** Goes through the issuer's forms, up to the address it sends back to. */
  const signIn = async (gateway: string, name: string) => {
    const start = `${gateway}/auth/sign-in`;
    const isBack = (url: string) => url.startsWith(`${gateway}/auth/callback`);
    let seen = await follow(await visit(start), start, isBack);
    for (const prompt of ["login", "consent"]) {
      if (isBack(seen.at)) break;
      const body = new URLSearchParams({ prompt, ...(prompt === "login" && { login: name, password: "any" }) });
      seen = await follow(await visit(seen.at, { method: "POST", body }), seen.at, isBack);
    }
    return seen.at;
  };
  return { visit, signIn };
}

test("a person signs in at the issuer, uses the console's API by the session alone, and signs out", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-sign-in-"));
  const port = `${freePort()}`;
  const origin = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer(`${origin}/auth/callback`);
  const gateway = await startGatewayServer(home, {
    PORT: port,
    MANYHANDS_TOKEN: "long-enough",
    MANYHANDS_AUTH_OIDC_ISSUER: issuer.url,
    MANYHANDS_AUTH_OIDC_CLIENT_ID: "manyhands",
    MANYHANDS_AUTH_OIDC_CLIENT_SECRET: secret,
  });
  try {
    expect(gateway.url).toBe(origin);
    expect(await (await fetch(`${origin}/`)).text()).toContain('data-sign-in="auth/sign-in"');
    const [alice, mallory] = [openBrowser(), openBrowser()];
    const own = { "Sec-Fetch-Site": "same-origin" };
    expect((await alice.visit(`${origin}/runs`, { headers: own })).status).toBe(401);
    const back = await alice.signIn(origin, "alice");
    expect(back).toStartWith(`${origin}/auth/callback?code=`);
    // What was begun in one browser does not end in another.
    expect((await mallory.visit(back)).status).toBe(401);
    const signedIn = await alice.visit(back);
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([302, `${origin}/`]);
    const cookie = signedIn.headers.getSetCookie().find((line) => line.startsWith("manyhands-session="));
    expect(cookie).toMatch(/Path=\/.*HttpOnly.*SameSite=Lax/);
    expect(await (await alice.visit(`${origin}/auth/session`)).json()).toEqual({
      principal: "alice",
      scopes: ["read", "run"],
    });
    expect((await alice.visit(`${origin}/runs`, { headers: own })).status).toBe(200);
    expect((await alice.visit(`${origin}/metrics`, { headers: own })).status).toBe(200);
    const start = (headers: Record<string, string>) =>
      alice.visit(`${origin}/flows/sequential`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify({ input: "Hello", agents: ["manus"] }),
      });
    expect((await start({ "Sec-Fetch-Site": "cross-site" })).status).toBe(401);
    expect((await start({ "Sec-Fetch-Site": "same-site" })).status).toBe(401);
    expect((await start({ Origin: "http://127.0.0.1:1" })).status).toBeOneOf([401, 403]);
    expect((await start({ ...own, Origin: origin })).status).toBe(202);
    const leave = (site: string) =>
      alice.visit(`${origin}/auth/sign-out`, { method: "POST", headers: { "Sec-Fetch-Site": site } });
    expect((await leave("cross-site")).status).toBe(403);
    expect((await alice.visit(`${origin}/runs`, { headers: own })).status).toBe(200);
    const stolen = cookie?.split(";")[0] ?? "";
    expect((await leave("same-origin")).status).toBe(204);
    expect((await fetch(`${origin}/runs`, { headers: { ...own, cookie: stolen } })).status).toBe(401);
  } finally {
    await gateway.stop();
    issuer.close();
    await rm(home, { recursive: true });
  }
});

test("a person is named by the address that the issuer has checked, and comes in by whatever name of this machine", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-sign-in-"));
  const port = `${freePort()}`;
  const origin = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer(`${origin}/auth/callback`);
  const gateway = await startGatewayServer(home, {
    PORT: port,
    MANYHANDS_TOKEN: "long-enough",
    MANYHANDS_AUTH_OIDC_ISSUER: issuer.url,
    MANYHANDS_AUTH_OIDC_CLIENT_ID: "manyhands",
    MANYHANDS_AUTH_OIDC_CLIENT_SECRET: secret,
    MANYHANDS_AUTH_OIDC_PRINCIPAL_CLAIM: "email",
  });
  try {
    const alice = openBrowser();
    const elsewhere = await alice.visit(`http://localhost:${port}/auth/sign-in`);
    expect(elsewhere.headers.get("location")).toBe(`${origin}/auth/sign-in`);
    expect((await alice.visit(await alice.signIn(origin, "alice"))).status).toBe(302);
    expect(await (await alice.visit(`${origin}/auth/session`)).json()).toMatchObject({
      principal: "alice@team.example",
    });
    const eve = openBrowser();
    const refused = await eve.visit(await eve.signIn(origin, "eve"), { headers: { accept: "text/html" } });
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining("You were not signed in.")]);
  } finally {
    await gateway.stop();
    issuer.close();
    await rm(home, { recursive: true });
  }
});

test("in a browser the console's button leads to the issuer and back; the page is signed in until its person signs out", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-sign-in-"));
  const port = `${freePort()}`;
  const origin = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer(`${origin}/auth/callback`);
  const gateway = await startGatewayServer(home, {
    PORT: port,
    MANYHANDS_TOKEN: "long-enough",
    MANYHANDS_AUTH_OIDC_ISSUER: issuer.url,
    MANYHANDS_AUTH_OIDC_CLIENT_ID: "manyhands",
    MANYHANDS_AUTH_OIDC_CLIENT_SECRET: secret,
  });
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(String(error)));
    await page.goto(`${origin}/`);
    await page.getByRole("link", { name: "Sign in instead" }).click();
    await page.waitForURL(`${issuer.url}/**`);
    await page.locator("[name=login]").fill("alice");
    await page.locator("[name=password]").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`${origin}/`);
    await page.getByText("alice").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    const session = () => page.evaluate("fetch('/auth/session').then((answer) => answer.json())");
    expect(await session()).toEqual({ principal: "alice", scopes: ["read", "run"] });
    const runs = () => page.evaluate("fetch('/runs').then((answer) => answer.status)");
    expect(await runs()).toBe(200);
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("dialog").waitFor();
    expect(await runs()).toBe(401);
    expect(faults).toEqual([]);
  } finally {
    await browser.close();
    await gateway.stop();
    issuer.close();
    await rm(home, { recursive: true });
  }
});

import { expect, spyOn, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as oauth from "oauth4webapi";
import { createOidc, type OidcConfig } from "./oidc.ts";

/** An issuer that answers its first requests with these statuses, and then with its description. */
function startIssuer(statuses: readonly number[]) {
  const left = [...statuses];
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      const issuer = server.url.href.replace(/\/$/, "");
      const status = left.shift();
      if (status !== undefined) return new Response("", { status });
      return Response.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
      });
    },
  });
  return { url: server.url.href.replace(/\/$/, ""), stop: () => server.stop(true) };
}

const of = (issuer: string, more: Partial<OidcConfig> = {}) =>
  createOidc({
    issuer,
    clientId: "manyhands",
    clientSecret: undefined,
    principalClaim: "sub",
    scopesClaim: undefined,
    scopes: [],
    sessionMs: 3_600_000,
    ...more,
  });

test("an issuer that is away at the first sign-in is asked again at the next", async () => {
  const issuer = startIssuer([503, 502]);
  try {
    const oidc = of(issuer.url);
    const begun = () =>
      oidc.begin("http://127.0.0.1:1/auth/callback").then(
        ({ url }) => url.pathname,
        ({ code }) => code,
      );
    expect([await begun(), await begun(), await begun()]).toEqual(["unavailable", "unavailable", "/authorize"]);
  } finally {
    await issuer.stop();
  }
});

test("a description that would fill the memory is not read", async () => {
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      Response.json({
        issuer: server.url.origin,
        authorization_endpoint: `${server.url.origin}/authorize`,
        more: "x".repeat(2 ** 20),
      }),
  });
  await using _ = { [Symbol.asyncDispose]: () => server.stop(true) };
  await expect(of(server.url.origin).begin("http://127.0.0.1:1/auth/callback")).rejects.toMatchObject({
    code: "unavailable",
  });
});

const callback = "http://127.0.0.1:1/auth/callback";
const codeOf = ({ code }: { code: string }) => code;

type Answer = { readonly status: number; readonly body: unknown };

/** An issuer whose tokens have these claims besides the usual ones, or that answers as told. */
function startTokens(claims: (nonce: string) => object | Answer, userInfo?: () => object) {
  const asked: { authorization: string | null; form: URLSearchParams }[] = [];
  const verifiers: string[] = [];
  const userInfoFor: (string | null)[] = [];
  let nonce = "";
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const issuer = server.url.origin;
      if (request.url.endsWith("/userinfo")) {
        userInfoFor.push(request.headers.get("authorization"));
        const { status, ...told } = { status: 200, ...userInfo?.() };
        return Response.json(told, { status });
      }
      if (!request.url.endsWith("/token"))
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/a?theme=dark`,
          token_endpoint: `${issuer}/token`,
          ...(userInfo && { userinfo_endpoint: `${issuer}/userinfo` }),
        });
      const form = new URLSearchParams(await request.text());
      asked.push({ authorization: request.headers.get("authorization"), form });
      const told = claims(nonce);
      if ("status" in told) return Response.json(told.body, { status: told.status });
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: issuer, aud: "manyhands", sub: "ann", iat: now, exp: now + 60, nonce, ...told };
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const id_token = `${part({ alg: "RS256" })}.${part(all)}.AA`;
      return Response.json({ access_token: "t", token_type: "bearer", id_token });
    },
  });
  /** Signs in; `came` changes what the browser comes back with. */
  const signIn = async (more: Partial<OidcConfig> = {}, came: Record<string, string> = {}) => {
    const oidc = of(server.url.origin, more);
    const { kept } = await oidc.begin(callback);
    nonce = kept.nonce;
    verifiers.push(kept.verifier);
    const back = new URL(callback);
    for (const [name, value] of Object.entries({ code: "c", state: kept.state, ...came }))
      if (value !== "") back.searchParams.set(name, value);
    return oidc.finish(back, callback, kept);
  };
  const origin = server.url.origin;
  return { origin, asked, verifiers, userInfoFor, signIn, [Symbol.asyncDispose]: () => server.stop(true) };
}

test("a sign-in begins with what ties its end to this browser, and keeps what the issuer's address has", async () => {
  await using issuer = startTokens(() => ({}));
  const { url, kept } = await of(issuer.origin).begin(callback);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    theme: "dark",
    client_id: "manyhands",
    redirect_uri: callback,
    response_type: "code",
    scope: "openid",
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: createHash("sha256").update(kept.verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  expect((await of(issuer.origin).begin(callback)).kept.state).not.toBe(kept.state);
});

test("who came back is whom the token names, with the scopes of its claim or those of everybody", async () => {
  await using issuer = startTokens(() => ({ email: "ann@a.example", groups: ["run", "other"] }));
  expect(await issuer.signIn()).toEqual({ principal: "ann", scopes: new Set(["read", "run"]) } as never);
  const named = { principalClaim: "email", scopesClaim: "groups" };
  expect(await issuer.signIn(named)).toEqual({ principal: "ann@a.example", scopes: new Set(["run"]) } as never);
  expect(await issuer.signIn({ principalClaim: "nickname" }).catch(codeOf)).toBe("unauthorized");
});

test("the issuer is asked for the scopes that the claims need, and for those of the settings", async () => {
  await using issuer = startTokens(() => ({}));
  const scopeOf = async (more: Partial<OidcConfig>) =>
    (await of(issuer.origin, more).begin(callback)).url.searchParams.get("scope");
  expect(await scopeOf({ principalClaim: "email" })).toBe("openid email");
  expect(await scopeOf({ principalClaim: "preferred_username", scopes: ["groups", "openid"] })).toBe(
    "openid profile groups",
  );
  expect(await scopeOf({ scopesClaim: "groups" })).toBe("openid");
});

test("claims that the token lacks are asked for where the issuer tells who somebody is, for the same person alone", async () => {
  let told: object = { sub: "ann", email: "ann@a.example", groups: ["run"] };
  await using issuer = startTokens(
    () => ({ email: "token@a.example" }),
    () => told,
  );
  const named = { principalClaim: "email" };
  expect((await issuer.signIn(named)).principal).toBe("token@a.example");
  expect(issuer.userInfoFor).toEqual([]);
  expect(await issuer.signIn({ ...named, scopesClaim: "groups" })).toEqual({
    ...{ principal: "token@a.example", scopes: new Set(["run"]) },
  } as never);
  expect(issuer.userInfoFor).toEqual(["Bearer t"]);
  told = { ...told, sub: "eve" };
  expect(await issuer.signIn({ scopesClaim: "groups" }).catch(codeOf)).toBe("unauthorized");
  told = { status: 503 };
  expect(await issuer.signIn({ scopesClaim: "groups" }).catch(codeOf)).toBe("unavailable");
});

test("an email address that the issuer has not checked names nobody", async () => {
  await using issuer = startTokens(() => ({ email: "ann@a.example", email_verified: false }));
  expect(await issuer.signIn({ principalClaim: "email" }).catch(codeOf)).toBe("unauthorized");
  expect((await issuer.signIn()).principal).toBe("ann");
});

test("the client shows its secret, from the settings or a file, or says only its name", async () => {
  await using issuer = startTokens(() => ({}));
  const home = await mkdtemp(join(tmpdir(), "oidc-"));
  const file = join(home, "secret");
  await Bun.write(file, "of-a-file\n");
  await issuer.signIn();
  await issuer.signIn({ clientSecret: { text: "of-the-settings" } });
  await issuer.signIn({ clientSecret: { file } });
  const shown = issuer.asked.map(({ authorization }) => authorization && atob(authorization.slice("Basic ".length)));
  expect(shown.map((text) => text && decodeURIComponent(text))).toEqual([
    null,
    "manyhands:of-the-settings",
    "manyhands:of-a-file",
  ]);
  expect(issuer.asked[0]?.form.get("client_id")).toBe("manyhands");
  for (const { form } of issuer.asked) expect([form.get("code"), form.get("redirect_uri")]).toEqual(["c", callback]);
  // Only this browser knows what the code was asked for with.
  expect(issuer.asked.map(({ form }) => form.get("code_verifier"))).toEqual(issuer.verifiers);
  expect(await issuer.signIn({ clientSecret: { file: join(home, "none") } }).catch(codeOf)).toBe("unavailable");
  await rm(home, { recursive: true });
});

test.each<[string, Record<string, string>, (nonce: string) => object | Answer, string]>([
  ["another browser's state", { state: "other" }, () => ({}), "unauthorized"],
  ["no state", { state: "" }, () => ({}), "unauthorized"],
  ["a refusal", { code: "", error: "access_denied" }, () => ({}), "unauthorized"],
  ["a code that is not accepted", {}, () => ({ status: 400, body: { error: "invalid_grant" } }), "unauthorized"],
  ["a token for another sign-in", {}, () => ({ nonce: "other" }), "unauthorized"],
  ["a token for another client", {}, () => ({ aud: "other" }), "unauthorized"],
  ["a token of another issuer", {}, () => ({ iss: "https://other.example" }), "unauthorized"],
  ["an expired token", {}, () => ({ exp: 1 }), "unauthorized"],
  ["an issuer that fails", {}, () => ({ status: 500, body: {} }), "unavailable"],
])("who comes back with %s is not signed in: %#", async (_, came, claims, code) => {
  await using issuer = startTokens(claims);
  expect(await issuer.signIn({}, came).catch(codeOf)).toBe(code);
});

test("the issuer is asked for ten seconds at most, and without TLS on this machine alone", async () => {
  using timeout = spyOn(AbortSignal, "timeout");
  using asking = spyOn(oauth, "discoveryRequest").mockRejectedValue(new TypeError("away"));
  for (const issuer of ["http://127.0.0.1:1", "https://id.example"])
    expect(await of(issuer).begin(callback).catch(codeOf)).toBe("unavailable");
  expect(asking.mock.calls.map(([, options]) => options?.[oauth.allowInsecureRequests])).toEqual([true, false]);
  const signals: unknown[] = asking.mock.calls.map(([, options]) => options?.signal);
  expect(signals).toEqual(timeout.mock.results.map(({ value }) => value));
  expect(timeout.mock.calls).toEqual([[10_000], [10_000]]);
});

test("an issuer with nowhere to sign in is unavailable", async () => {
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ issuer: server.url.origin }),
  });
  expect(await of(server.url.origin).begin(callback).catch(codeOf)).toBe("unavailable");
  await server.stop(true);
});

import { expect, spyOn, test } from "bun:test";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { AuthStore } from "../auth/auth-store.ts";
import { loadConfig } from "../config/config.ts";
import { callerNamed, localCaller } from "../core/caller.ts";
import { silentLog } from "../core/runs/engine.ts";
import { serve } from "../http/serve.ts";
import * as socketOwner from "../http/socket-owner.ts";
import { openSocketOwner } from "../http/socket-owner.ts";
import { guardOf, openAuthentication, openLocalUsers } from "./access.ts";
import { openShared } from "./storage/open-shared.ts";

const linux = process.platform === "linux";
const self = process.geteuid?.() ?? 0;
const fetchOk = { fetch: () => new Response("ok") };

test.skipIf(!linux)(
  "the kernel names a connection's owner, on every loopback address a server may listen on",
  async () => {
    const { guard, note } = await openLocalUsers({ token: undefined, tls: undefined });
    expect(note).toBeUndefined();
    for (const hostname of ["127.0.0.1", "127.0.0.5", "localhost", "::1", "[::1]"]) {
      const served = serve(fetchOk, { port: 0, hostname, guard });
      expect([hostname, (await fetch(served.url)).status]).toEqual([hostname, 200]);
      await served.stop();
    }
  },
);

test.skipIf(!linux)(
  "a connection of another user, or of no user any more, is refused, one of root is not",
  async () => {
    const owner = await openSocketOwner();
    if (owner === undefined) throw new Error("the kernel does not tell");
    const stranger = serve(fetchOk, { port: 0, guard: guardOf(owner, self + 1) });
    const refused = await fetch(stranger.url);
    expect(refused.status).toBe(self === 0 ? 200 : 401);
    const ofAnother = serve(fetchOk, { port: 0, guard: guardOf(() => self + 2, self + 1) });
    expect((await fetch(ofAnother.url)).status).toBe(401);
    const ofRoot = serve(fetchOk, { port: 0, guard: guardOf(() => 0, self + 1) });
    expect((await fetch(ofRoot.url)).status).toBe(200);
    const ofNobody = serve(fetchOk, { port: 0, guard: guardOf(() => undefined, self) });
    expect((await fetch(ofNobody.url)).status).toBe(401);
    await Promise.all([stranger.stop(), ofAnother.stop(), ofRoot.stop(), ofNobody.stop()]);
  },
);

test.each([
  [1000, undefined],
  [0, undefined],
  [1001, 401],
  [undefined, 401],
])("a server of user 1000 answers a connection of user %p with %p", async (user, status) => {
  const end = { address: "127.0.0.1", port: 1 };
  const own = { ...end, port: 2 };
  const refusal = guardOf((...ends) => (Bun.deepEquals(ends, [end, own]) ? user : 1002), 1000)(end, own);
  expect(refusal?.status).toBe(status);
  if (refusal === undefined) return;
  expect(refusal.headers.get("WWW-Authenticate")).toBe("Bearer");
  expect(refusal.headers.get("Content-Type")).toBe("application/problem+json");
  const { detail, ...problem } = (await refusal.json()) as { detail: string };
  expect(problem).toEqual({
    type: "about:blank",
    title: "Unauthorized",
    status: 401,
    code: "unauthorized",
    retryable: false,
  });
  expect(detail).toContain("MANYHANDS_TOKEN");
});

test.skipIf(!linux)(
  "a connection closed by its process has no owner, whatever the kernel says of the rest",
  async () => {
    const owner = await openSocketOwner();
    if (owner === undefined) throw new Error("the kernel does not tell");
    const accepted = Promise.withResolvers<Socket>();
    // The other end stays open, so that the closed one lingers in FIN_WAIT2, where the kernel says
    // that root holds it.
    const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, allowHalfOpen: true, socket: { data() {} } });
    const socket = connect({ host: "127.0.0.1", port: listener.port }, () => accepted.resolve(socket));
    await accepted.promise;
    const held = { address: "127.0.0.1", port: socket.localPort ?? 0 };
    const other = { address: "127.0.0.1", port: listener.port };
    expect(owner(held, other)).toBe(self);
    expect(owner({ ...held, port: other.port }, { ...other, port: held.port })).toBe(self);
    // As a server that listens in both families sees them.
    const mapped = (end: typeof held) => ({ ...end, address: `::ffff:${end.address}` });
    expect(owner(mapped(held), mapped(other))).toBe(self);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.once("close", () => resolve());
    socket.destroy();
    await closed;
    expect(owner(held, other)).toBeUndefined();
    expect(owner({ address: "127.0.0.1", port: 1 }, other)).toBeUndefined();
    listener.stop(true);
  },
);

test.skipIf(!linux)("asking for owners leaves no descriptor open", async () => {
  const owner = await openSocketOwner();
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let n = 1; n <= 50; n++) owner?.({ address: "127.0.0.1", port: n }, { address: "127.0.0.1", port: 1 });
  expect(open() - before).toBeLessThan(10);
});

test.skipIf(!linux)("a listening port is not an end of a connection", async () => {
  const owner = await openSocketOwner();
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  expect(owner?.({ address: "127.0.0.1", port: listener.port }, { address: "127.0.0.1", port: 1 })).toBeUndefined();
  listener.stop(true);
});

test("a server with a token asks the kernel nothing", async () => {
  expect(await openLocalUsers({ token: "long-enough", tls: undefined })).toEqual({});
});

type Tls = NonNullable<Parameters<typeof openLocalUsers>[0]["tls"]>;
const clientCa = { clientCa: "ca.pem" } as unknown as Tls;

test.skipIf(!linux).each<[string | undefined, Tls | undefined, boolean]>([
  [undefined, undefined, true],
  [undefined, {} as Tls, true],
  [undefined, clientCa, false],
  ["long-enough", undefined, false],
  ["long-enough", clientCa, false],
])(
  "with the token %p and the TLS settings %j the users of the machine are told apart: %p",
  async (token, tls, apart) => {
    expect((await openLocalUsers({ token, tls })).guard !== undefined).toBe(apart);
  },
);

test("where the kernel does not tell users apart, the operator is told what to do", async () => {
  using _ = spyOn(socketOwner, "openSocketOwner").mockResolvedValue(undefined);
  const { guard, note } = await openLocalUsers({ token: undefined, tls: undefined });
  expect([guard, note?.includes("set MANYHANDS_TOKEN")]).toEqual([undefined, true]);
});

test("requests are counted where all servers count them, and the store of tokens is closed with the server", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-access-"));
  const config = await loadConfig({ cwd: home, env: { MANYHANDS_HOME: home, MANYHANDS_TOKEN: "long-enough" } });
  const steps: string[] = [];
  const requests = { count: async () => ({ isCounted: true, leftMs: 0 }), of: async () => 77 };
  const tokens = () => ({ close: async () => void steps.push("closed") }) as unknown as AuthStore;
  const { access, close } = await openAuthentication(config, { tokens, requests }, silentLog);
  expect(await access.quotas.requests("ann")).toBe(77);
  await close();
  expect(steps).toEqual(["closed"]);
  const open = { ...config, server: { ...config.server, token: undefined } };
  const everybody = await openAuthentication(open, { tokens, requests }, silentLog);
  expect(await everybody.access.quotas.requests("ann")).toBe(77);
  await rm(home, { recursive: true });
});

test("a server without a token answers everybody, and a card asks for a client certificate where one is wanted", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-access-"));
  const config = await loadConfig({ cwd: home, env: { MANYHANDS_HOME: home } });
  const open = await openAuthentication(config, await openShared(config), silentLog);
  expect([open.store, open.facts]).toEqual([undefined, {}]);
  const secured = { ...config.server, tls: { cert: "a", key: "b" } as unknown as typeof config.server.tls };
  expect((await openAuthentication({ ...config, server: secured }, await openShared(config), silentLog)).facts).toEqual(
    {},
  );
  const server = { ...config.server, tls: clientCa as unknown as typeof config.server.tls };
  const { facts } = await openAuthentication({ ...config, server }, await openShared(config), silentLog);
  expect(Object.keys(facts.security?.securitySchemes ?? {})).toHaveLength(1);
  const withToken = { ...config, server: { ...server, token: "long-enough" } };
  const both = await openAuthentication(withToken, await openShared(config), silentLog);
  const wanted = both.facts.security?.securityRequirements.map(({ schemes }) => Object.keys(schemes));
  expect(wanted).toEqual([
    ["mutualTls", "bearer"],
    ["mutualTls", "apiKey"],
  ]);
  await both.close();
  await rm(home, { recursive: true });
});

test("a card names an issuer only if it takes that issuer's JWTs; signing in to the console announces none", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-access-"));
  const issuer = "https://id.example.com";
  const signIn = { MANYHANDS_AUTH_OIDC_ISSUER: issuer, MANYHANDS_AUTH_OIDC_CLIENT_ID: "manyhands" };
  const bearer = {
    MANYHANDS_AUTH_JWT_ISSUER: issuer,
    MANYHANDS_AUTH_JWT_AUDIENCE: "manyhands",
    MANYHANDS_AUTH_JWT_JWKS: `${issuer}/jwks`,
  };
  const announced = async (env: Record<string, string>) => {
    const config = await loadConfig({
      cwd: home,
      env: { MANYHANDS_HOME: home, MANYHANDS_TOKEN: "long-enough", ...env },
    });
    const { facts, access, close } = await openAuthentication(config, await openShared(config), silentLog);
    await close();
    return [Object.keys(facts.security?.securitySchemes ?? {}), access.issuer];
  };
  expect(await announced(signIn)).toEqual([["bearer", "apiKey"], undefined]);
  expect(await announced({ ...signIn, ...bearer })).toEqual([["bearer", "apiKey", "openIdConnect"], issuer]);
  await rm(home, { recursive: true });
});

test("whoever shows a JWT of the settings' issuer is a caller, with or without a token of their own", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-access-"));
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  await Bun.write(join(home, "keys.json"), JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "k" }] }));
  const env = {
    MANYHANDS_HOME: home,
    MANYHANDS_TOKEN: "long-enough",
    MANYHANDS_AUTH_JWT_ISSUER: "https://id.example",
    MANYHANDS_AUTH_JWT_AUDIENCE: "manyhands",
    MANYHANDS_AUTH_JWT_JWKS_FILE: join(home, "keys.json"),
    MANYHANDS_LIMITS_PRINCIPAL_RUNS_AT_ONCE: "3",
  };
  const config = await loadConfig({ cwd: home, env });
  const { access, close } = await openAuthentication(config, await openShared(config), silentLog);
  const jwt = await new SignJWT({ iss: "https://id.example", aud: "manyhands", sub: "carol", scope: "run" })
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setExpirationTime("1h")
    .sign(privateKey);
  const asked = new Request("http://127.0.0.1/", { headers: { Authorization: `Bearer ${jwt}` } });
  const carol = { ...callerNamed("carol", ["run"]), isStillValid: expect.any(Function) };
  expect(await access.identify(asked)).toEqual(carol);
  expect(access.quotas.of("carol")).toEqual({ runsAtOnce: 3 });
  await close();
  const open = await loadConfig({
    cwd: home,
    env: { MANYHANDS_HOME: home, MANYHANDS_LIMITS_PRINCIPAL_RUNS_AT_ONCE: "4" },
  });
  const everybody = await openAuthentication(open, await openShared(open), silentLog);
  expect(await everybody.access.identify(new Request("http://127.0.0.1/"))).toBe(localCaller);
  expect(everybody.access.quotas.of("carol")).toEqual({ runsAtOnce: 4 });
  await everybody.close();
  await rm(home, { recursive: true });
});

test("with a token the operator, the tokens of the home and, only where people sign in, sessions are callers", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-access-"));
  const env = { MANYHANDS_HOME: home, MANYHANDS_TOKEN: "long-enough" };
  const signIn = {
    MANYHANDS_AUTH_OIDC_ISSUER: "https://id.example.com",
    MANYHANDS_AUTH_OIDC_CLIENT_ID: "manyhands",
  };
  for (const [more, ofSession] of [
    [{}, "refused"],
    [signIn, "ann"],
  ] as const) {
    const warned: object[] = [];
    const log = { ...silentLog, warn: (fields: object, message: string) => void warned.push({ ...fields, message }) };
    const config = await loadConfig({ cwd: home, env: { ...env, ...more } });
    const { access, store, close } = await openAuthentication(config, await openShared(config), log);
    const session = (await store?.signIn(callerNamed("ann"), 60_000)) ?? "";
    const who = async (headers: Record<string, string>) => {
      const request = new Request("http://127.0.0.1/", { headers: { "sec-fetch-site": "same-origin", ...headers } });
      return Promise.resolve(access.identify(request)).then(
        ({ principal }) => principal,
        () => "refused",
      );
    };
    const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
    expect([await who(bearer("long-enough")), await who(bearer("wrong")), await who({})]).toEqual([
      "local",
      "refused",
      "refused",
    ]);
    expect(await who({ Cookie: `manyhands-session=${session}` })).toBe(ofSession);
    const name = `of-${ofSession}`;
    const added = (await store?.add({ name, principal: "bob", scopes: ["read"] })) ?? "";
    expect([await who(bearer(added)), await who({ "X-API-Key": added })]).toEqual(["bob", "bob"]);
    const path = `/${"x".repeat(300)}`;
    const unknown = new Request(`http://127.0.0.1${path}?secret=x`, { method: "POST", headers: bearer("wrong") });
    await expect(access.identify(unknown)).rejects.toMatchObject({ code: "unauthorized" });
    // Its refusal has been told, with the reason; that of a request whose caller is known has not.
    access.refused({ method: "POST", path, status: 401 }, unknown);
    access.refused({ method: "GET", path: "/x", status: 403 }, new Request("http://127.0.0.1/x"));
    const message = "a request was refused";
    expect(warned.slice(-2)).toEqual([
      { method: "POST", path: path.slice(0, 200), status: 401, reason: "unknown or expired credentials", message },
      { method: "GET", path: "/x", status: 403, message },
    ]);
    await close();
  }
  await rm(home, { recursive: true });
});

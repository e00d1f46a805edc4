import { afterAll, expect, setSystemTime, spyOn, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as jose from "jose";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { callerNamed } from "../core/caller.ts";
import { issuerFetch } from "./issuer-fetch.ts";
import { jwtVerifier } from "./jwt.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-jwt-"));
afterAll(() => rm(folder, { recursive: true }));

const issuer = "https://id.example";
const audience = "manyhands";
const config = { issuer, audience, principalClaim: "sub", scopesClaim: "scope", scopePrefix: "" };

async function keyNamed(kid: string, alg = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg } };
}

type Key = Awaited<ReturnType<typeof keyNamed>>;
const [first, second] = await Promise.all([keyNamed("k1"), keyNamed("k2", "EdDSA")]);

const sign = (
  { alg, kid, privateKey }: Key,
  claims: { readonly exp?: number; readonly [claim: string]: unknown } = {},
  life = "1h",
) =>
  new SignJWT({ iss: issuer, aud: audience, sub: "alice", scope: "read run openid", ...claims })
    .setProtectedHeader({ alg, kid })
    .setExpirationTime(claims.exp ?? life)
    .sign(privateKey);

/** An issuer's keys on a free port, with how often they were asked for. */
function keyServer(answer: () => Response | Promise<Response>) {
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      asked++;
      return answer();
    },
  });
  const close = () => server.stop(true);
  return { url: `${server.url.href}jwks`, asked: () => asked, [Symbol.asyncDispose]: close };
}

test("a JWT of the issuer lets its principal in with the scopes it names, and the keys are asked for once", async () => {
  await using keys = keyServer(() => Response.json({ keys: [first.jwk, second.jwk] }));
  const verify = jwtVerifier({ ...config, keys });
  expect(await verify(await sign(first))).toEqual(callerNamed("alice", ["read", "run"]));
  expect(await verify(await sign(second, { scope: ["run"] }))).toEqual(callerNamed("alice", ["run"]));
  expect(await verify(await sign(first, { scope: undefined }))).toEqual(callerNamed("alice", []));
  expect(keys.asked()).toBe(1);
  const renamed = { principalClaim: "email", scopesClaim: "roles", scopePrefix: "manyhands:" };
  const claims = { email: "alice@example.com", roles: ["manyhands:run", "read"] };
  const other = jwtVerifier({ ...config, ...renamed, keys });
  expect(await other(await sign(first, claims))).toEqual(callerNamed("alice@example.com", ["run"]));
});

test("a JWT that is another's, for another, too old, unsigned or signed with a shared secret is refused", async () => {
  await using keys = keyServer(() => Response.json({ keys: [first.jwk] }));
  const verify = jwtVerifier({ ...config, keys });
  const stranger = { ...(await keyNamed("k1")), kid: "k1" };
  const [header, body] = (await sign(first)).split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
  const shared = await new SignJWT({ iss: issuer, aud: audience, sub: "alice" })
    .setProtectedHeader({ alg: "HS256", kid: "k1" })
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(JSON.stringify(first.jwk).padEnd(64)));
  const endless = await new SignJWT({ iss: issuer, aud: audience, sub: "alice" })
    .setProtectedHeader({ alg: "ES256", kid: "k1" })
    .sign(first.privateKey);
  const wrong = [
    await sign(stranger),
    await sign(first, { iss: "https://other.example" }),
    await sign(first, { aud: "another" }),
    await sign(first, {}, "-31s"),
    await sign(first, { nbf: Math.floor(Date.now() / 1000) + 60 }),
    await sign(first, { sub: undefined }),
    await sign(first, { sub: "local" }),
    await sign(first, { sub: "two words" }),
    await sign({ ...first, kid: "unknown" }),
    `${header}.${body}.`,
    `${none}.${body}.AA`,
    shared,
    endless,
    "a.b.c",
  ];
  for (const token of wrong) await expect(verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await verify(await sign(first, {}, "-10s"))).toMatchObject({ principal: "alice" });
});

test("a shared secret among the issuer's keys makes no tokens, and a token that fits two keys is refused", async () => {
  const secret = new TextEncoder().encode("s".repeat(32));
  const shared = { kty: "oct", kid: "shared", k: Buffer.from(secret).toString("base64url") };
  const twin = await keyNamed("k2");
  await using keys = keyServer(() => Response.json({ keys: [first.jwk, twin.jwk, shared] }));
  const verify = jwtVerifier({ ...config, keys });
  const claims = { iss: issuer, aud: audience, sub: "alice", scope: "read" };
  const signed = (header: { alg: string; kid?: string }, key: Uint8Array | typeof first.privateKey) =>
    new SignJWT(claims).setProtectedHeader(header).setExpirationTime("1h").sign(key);
  for (const token of [
    await signed({ alg: "HS256", kid: "shared" }, secret),
    await signed({ alg: "HS256" }, secret),
    await signed({ alg: "ES256" }, first.privateKey),
  ])
    await expect(verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await verify(await sign(first))).toMatchObject({ principal: "alice" });
});

test("keys that cannot be read are our trouble, not the caller's, and a silent issuer is not waited for", async () => {
  const token = await sign(first);
  const answers = [
    () => new Response("no", { status: 500 }),
    () => new Response("<html>"),
    () => Response.redirect("http://127.0.0.1:1/"),
    () => new Promise<Response>(() => undefined),
    () => Response.json({ keys: [first.jwk], more: "x".repeat(2 ** 20) }),
  ];
  for (const answer of answers) {
    await using keys = keyServer(answer);
    await expect(jwtVerifier({ ...config, keys })(token)).rejects.toMatchObject({ code: "unavailable", status: 503 });
  }
  const gone = { url: "http://127.0.0.1:1/jwks" };
  await expect(jwtVerifier({ ...config, keys: gone })(token)).rejects.toMatchObject({ code: "unavailable" });
  await expect(jwtVerifier({ ...config, keys: { file: join(folder, "none") } })(token)).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("a new key of the issuer counts seconds after the keys were last asked for, without a question for each token", async () => {
  let published = [first.jwk];
  await using keys = keyServer(() => Response.json({ keys: published }));
  const verify = jwtVerifier({ ...config, keys });
  expect(await verify(await sign(first))).toMatchObject({ principal: "alice" });
  published = [first.jwk, second.jwk];
  const token = await sign(second);
  await expect(verify(token)).rejects.toMatchObject({ code: "unauthorized" });
  expect(keys.asked()).toBe(1);
  try {
    setSystemTime(new Date(Date.now() + 5_001));
    expect(await verify(token)).toMatchObject({ principal: "alice" });
  } finally {
    setSystemTime();
  }
});

test("a file of keys is read again when it changes: a new key counts, one that is gone does not", async () => {
  const file = join(folder, "jwks.json");
  await writeFile(file, JSON.stringify({ keys: [first.jwk] }));
  const verify = jwtVerifier({ ...config, keys: { file } });
  expect(await verify(await sign(first))).toMatchObject({ principal: "alice" });
  await writeFile(file, JSON.stringify({ keys: [second.jwk] }));
  await utimes(file, new Date(), new Date(Date.now() + 5_000));
  expect(await verify(await sign(second))).toMatchObject({ principal: "alice" });
  await expect(verify(await sign(first))).rejects.toMatchObject({ code: "unauthorized" });
});

test("the signature of a JWT that comes again is not verified again", async () => {
  await using keys = keyServer(() => Response.json({ keys: [first.jwk] }));
  const file = join(folder, "known.json");
  await writeFile(file, JSON.stringify({ keys: [first.jwk] }));
  using verifying = spyOn(crypto.subtle, "verify");
  for (const verify of [jwtVerifier({ ...config, keys }), jwtVerifier({ ...config, keys: { file } })]) {
    verifying.mockClear();
    const [token, other] = [await sign(first), await sign(first, { sub: "bob" })];
    for (const one of [token, other, token, other]) await verify(one);
    expect(await verify(token)).toEqual(callerNamed("alice", ["read", "run"]));
    expect(verifying).toHaveBeenCalledTimes(2);
  }
});

test("a JWT counts for thirty seconds after its time, the first time it is shown and again", async () => {
  const file = join(folder, "expiring.json");
  await writeFile(file, JSON.stringify({ keys: [first.jwk] }));
  let now = Math.floor(Date.now() / 1000) * 1000;
  const token = await sign(first, { exp: now / 1000 });
  const seen = jwtVerifier({ ...config, keys: { file } }, () => now);
  const fresh = () => jwtVerifier({ ...config, keys: { file } }, () => now);
  now += 29_000;
  for (const verify of [seen, fresh()]) expect(await verify(token)).toMatchObject({ principal: "alice" });
  now += 1_000;
  for (const verify of [seen, fresh()]) await expect(verify(token)).rejects.toMatchObject({ code: "unauthorized" });
});

test("a verified JWT ends with its expiry, and when its key goes from the file", async () => {
  const file = join(folder, "changing.json");
  await writeFile(file, JSON.stringify({ keys: [first.jwk] }));
  let now = Date.now();
  const verify = jwtVerifier({ ...config, keys: { file } }, () => now);
  const [short, long] = [await sign(first, {}, "5m"), await sign(first, {}, "2h")];
  for (const token of [short, long, short]) expect(await verify(token)).toMatchObject({ principal: "alice" });
  now += 331_000;
  await expect(verify(short)).rejects.toMatchObject({ code: "unauthorized" });
  expect(await verify(long)).toMatchObject({ principal: "alice" });
  await writeFile(file, JSON.stringify({ keys: [second.jwk] }));
  await utimes(file, new Date(), new Date(Date.now() + 5_000));
  await expect(verify(long)).rejects.toMatchObject({ code: "unauthorized" });
  await rm(file);
  await expect(verify(long)).rejects.toMatchObject({ code: "unavailable" });
});

test("an issuer's keys are asked for five seconds at most, kept for ten minutes, and not for every unknown id", () => {
  using remote = spyOn(jose, "createRemoteJWKSet");
  jwtVerifier({ ...config, keys: { url: "https://id.example/jwks" } });
  const bounds = { timeoutDuration: 5_000, cooldownDuration: 5_000, cacheMaxAge: 600_000 };
  const asked = { ...bounds, [jose.customFetch]: issuerFetch };
  expect(remote.mock.calls).toEqual([[new URL("https://id.example/jwks"), asked]]);
});

test("every algorithm with a key of two halves is accepted, whichever the issuer uses", async () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const curve = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
  const pairs = {
    ...Object.fromEntries(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"].map((alg) => [alg, rsa])),
    ES256: curve("P-256"),
    ES384: curve("P-384"),
    ES512: curve("P-521"),
    EdDSA: generateKeyPairSync("ed25519"),
    Ed25519: generateKeyPairSync("ed25519"),
  };
  const file = join(folder, "algorithms.json");
  const jwks = Object.entries(pairs).map(([alg, { publicKey }]) => ({
    ...publicKey.export({ format: "jwk" }),
    kid: alg,
    alg,
  }));
  await writeFile(file, JSON.stringify({ keys: jwks }));
  const verify = jwtVerifier({ ...config, keys: { file } });
  for (const [alg, { privateKey }] of Object.entries(pairs)) {
    const token = await new SignJWT({ iss: issuer, aud: audience, sub: alg })
      .setProtectedHeader({ alg, kid: alg })
      .setExpirationTime("1h")
      .sign(privateKey);
    expect(await verify(token)).toMatchObject({ principal: alg });
  }
});

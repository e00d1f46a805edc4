import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import { AppError } from "../../core/errors.ts";
import { type KeyRing, keyFiles, openHomeKeys } from "./home-keys.ts";
import { createKeySets } from "./key-sets.ts";
import { checkNotification, signatureHeader, signatureOf, signNotification } from "./notification-signature.ts";
import { keySetPath, type PublicKey } from "./public-key.ts";

const body = '{"task":{"id":"t1"}}';
const now = () => Math.floor(Date.now() / 1000);

let home: string;
let ring: KeyRing;
let sender: Bun.Server<unknown>;
let published = true;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-notification-"));
  ring = await (await openHomeKeys(keyFiles(home))).ring();
  sender = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) =>
      published && new URL(request.url).pathname === keySetPath
        ? Response.json({ keys: ring.map(({ publicKey }) => publicKey) })
        : new Response(null, { status: 404 }),
  });
});
afterAll(async () => {
  await sender.stop(true);
  await rm(home, { recursive: true });
});

const check = (jwt: string, received = body) =>
  checkNotification(jwt, received, sender.url.origin, createKeySets({ egress: { allow: [], deny: [], only: [] } }));

/** A signature as other senders make it, who may leave out what ours has. */
function signed(claims: Readonly<Record<string, unknown>>): Promise<string> {
  const [{ key, alg, publicKey }] = ring;
  return new SignJWT(claims).setProtectedHeader({ alg, kid: publicKey.kid, typ: "JWT" }).sign(key);
}

const unauthorized = { code: "unauthorized" };

test("a signature of ours holds for its body alone", async () => {
  const jwt = await signNotification(body, ring, { issuer: sender.url.origin, audience: "https://receiver.example" });
  await check(jwt);
  await expect(check(jwt, '{"task":{"id":"t2"}}')).rejects.toMatchObject(unauthorized);
  await expect(check(`${jwt.slice(0, -4)}AAAA`)).rejects.toMatchObject(unauthorized);
});

test("a signature is good for minutes after it was made, whether or not it says when it expires", async () => {
  await check(await signed({ iat: now() }));
  await check(await signed({ iat: now() - 240 }));
  for (const claims of [{ iat: now() - 600 }, { iat: now() - 600, exp: now() + 600 }, { iat: now() + 600 }, {}])
    await expect(check(await signed(claims))).rejects.toMatchObject(unauthorized);
});

test("clocks may differ by half a minute, in both directions", async () => {
  for (const [age, holds] of [
    [-20, true],
    [-40, false],
    [320, true],
    [340, false],
  ] as const) {
    const checked = check(await signed({ iat: now() - age })).then(
      () => true,
      () => false,
    );
    expect([age, await checked]).toEqual([age, holds]);
  }
});

test("a shared secret among the published keys vouches for nothing", async () => {
  const k = Buffer.from("a secret of thirty-two bytes: 1234567").toString("base64url");
  const sign = (claims: object) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: "HS256", kid: "k" }).sign(Buffer.from(k, "base64url"));
  const find = async () => ({ kid: "k", kty: "oct", k });
  const checked = checkNotification(await sign({ iat: now() }), body, "http://a.example", { find });
  await expect(checked).rejects.toMatchObject(unauthorized);
});

test("the keys are those of the sender, at the address that the signature names or at the usual one", async () => {
  const asked: unknown[] = [];
  const find = async (...what: unknown[]) => {
    asked.push(what);
    return Promise.reject(new AppError("not_found", "No."));
  };
  for (const [jku, sender] of [
    ["http://a.example/keys", "http://a.example"],
    [undefined, "http://a.example/agent//"],
  ] as const) {
    const header = { alg: "ES256", kid: "k", ...(jku && { jku }) };
    const jwt = `${Buffer.from(JSON.stringify(header)).toString("base64url")}.e30.AA`;
    await checkNotification(jwt, "{}", sender, { find });
  }
  expect(asked).toEqual([
    ["http://a.example/keys", "k", "http://a.example"],
    [`http://a.example/agent${keySetPath}`, "k", "http://a.example/agent//"],
  ]);
});

test("a signature names its sender, its receiver and the address of its keys", async () => {
  const jwt = await signNotification(body, ring, { issuer: "http://a.example/", audience: "https://receiver.example" });
  expect(decodeProtectedHeader(jwt)).toMatchObject({
    jku: `http://a.example${keySetPath}`,
    kid: ring[0].publicKey.kid,
  });
  const { iss, aud, iat = 0, exp, jti } = decodeJwt(jwt);
  expect([iss, aud, exp, jti?.length]).toEqual(["http://a.example/", "https://receiver.example", iat + 300, 36]);
});

test.each(["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "RS256", "PS256"])("a key for %s vouches", async (alg) => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const find = async () => ({ ...(await exportJWK(publicKey)), kid: "k" }) as PublicKey;
  const jwt = await new SignJWT({ iat: now() }).setProtectedHeader({ alg, kid: "k" }).sign(privateKey);
  await checkNotification(jwt, body, "http://a.example", { find });
});

test("a sender that publishes no keys has nothing to prove", async () => {
  published = false;
  await check(await signed({}));
  published = true;
});

test.each([
  [{}, undefined],
  [{ [signatureHeader]: "a.b.c" }, "a.b.c"],
  [{ Authorization: "bearer a.b.c" }, "a.b.c"],
  [{ Authorization: "Bearer  a.b.c" }, "a.b.c"],
  [{ [signatureHeader]: "a.b.c", Authorization: "Bearer d.e.f" }, "a.b.c"],
  [{ Authorization: "Bearer token" }, undefined],
  [{ Authorization: "Basic a.b.c" }, undefined],
  [{ Authorization: "Bearer a.b.c d" }, undefined],
  [{ [signatureHeader]: "a.b" }, undefined],
  [{ [signatureHeader]: "a.b.c.d" }, undefined],
])("of a notification with %j the signature is %p", (headers, jwt) => {
  expect(signatureOf(new Headers(headers as Record<string, string>))).toBe(jwt as string);
});

test.each([
  ["not_found", "accepted"],
  ["unavailable", "unavailable"],
  ["forbidden", "unauthorized"],
  ["unauthorized", "unauthorized"],
] as const)("a signature whose key is %s is %s", async (code, outcome) => {
  const find = () => Promise.reject(new AppError(code, "No."));
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: "k" })).toString("base64url");
  const checked = checkNotification(`${header}.e30.AA`, "{}", "http://a.example", { find });
  expect(
    await checked.then(
      () => "accepted",
      (error: AppError) => error.code,
    ),
  ).toBe(outcome);
});

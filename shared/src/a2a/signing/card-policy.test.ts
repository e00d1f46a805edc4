import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalizeAgentCard, generateAgentCardSignature } from "@a2a-js/sdk";
import { FlattenedSign } from "jose/jws/flattened/sign";
import { cardOf } from "../../testing/a2a/card.ts";
import { type CardTrust, cardPolicy, readKeyFile } from "./card-policy.ts";
import { signCard } from "./card-signature.ts";
import { keyFiles, openHomeKeys, rotateHomeKey } from "./home-keys.ts";
import { createKeySets } from "./key-sets.ts";
import type { PublicKey } from "./public-key.ts";

const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const publicKey = { ...(await crypto.subtle.exportKey("jwk", pair.publicKey)), kid: "key-1" } as PublicKey;
const header = { alg: "ES256", kid: "key-1", typ: "JOSE" };
const sign = generateAgentCardSignature(pair.privateKey, header);
const card = cardOf("Greeter", "http://127.0.0.1:1");
const agent = { name: "greeter", url: "http://127.0.0.1:1" };
const homes: string[] = [];
afterAll(() => Promise.all(homes.map((home) => rm(home, { recursive: true }))));

const must = (...keys: PublicKey[]): CardTrust => ({ demand: "must-be-signed", keys });
const admit = (trust: CardTrust, one = card) => cardPolicy({ trust: () => trust })(one, agent);

async function ownKeys() {
  const home = await mkdtemp(join(tmpdir(), "card-policy-"));
  homes.push(home);
  return openHomeKeys(keyFiles(home));
}

/** A server of key sets, at any path. */
function keyServer(answer: () => Response | object) {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      asked.push(new URL(request.url).pathname);
      const found = answer();
      return found instanceof Response ? found : Response.json(found);
    },
  });
  return { url: server.url.origin, asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

const egress = { allow: [], deny: [], only: [] };
const linked = (jku: string) => generateAgentCardSignature(pair.privateKey, { ...header, jku })(card);

test("a card signed with a trusted key may be used, and nothing of it may change after", async () => {
  const signed = await sign(card);
  await admit(must(publicKey), signed);
  await expect(admit(must(publicKey), { ...signed, description: "Something else." })).rejects.toMatchObject({
    code: "forbidden",
  });
});

test("no signature, an unknown key and an expired key are refused with the reason and the way out", async () => {
  const signed = await sign(card);
  await expect(admit(must(publicKey))).rejects.toThrow(/has no signature.*card_policy/);
  await expect(admit(must({ ...publicKey, kid: "key-2" }), signed)).rejects.toThrow("not trusted here");
  const seconds = Date.now() / 1_000;
  for (const exp of [1, seconds - 1])
    await expect(admit(must({ ...publicKey, exp }), signed)).rejects.toThrow("has expired");
  await admit(must({ ...publicKey, exp: seconds + 600 }), signed);
});

test("a card may be unsigned where its signature is wanted only if present, but not wrongly signed", async () => {
  const trust: CardTrust = { demand: "signed-if-present", keys: [publicKey] };
  await admit(trust);
  await admit(trust, await sign(card));
  await expect(admit(trust, { ...(await sign(card)), version: "2" })).rejects.toMatchObject({ code: "forbidden" });
  await admit({ demand: "unsigned" }, { ...(await sign(card)), version: "2" });
});

test("each agent has its own demands, and agents of this home are trusted whatever keys are pinned", async () => {
  const own = await ownKeys();
  const trust = (name: string) => (name === "greeter" ? must(publicKey) : ({ demand: "unsigned" } as const));
  const policy = cardPolicy({ trust, own });
  await policy(card, { ...agent, name: "other" });
  await expect(policy(card, agent)).rejects.toMatchObject({ code: "forbidden" });
  await policy(await signCard(card, await own.ring(), "https://example.com/keys"), agent);
});

test("a card that was signed with a key of this home before it was replaced is still trusted", async () => {
  const home = await mkdtemp(join(tmpdir(), "card-policy-"));
  homes.push(home);
  const before = await (await openHomeKeys(keyFiles(home))).ring();
  await rotateHomeKey(keyFiles(home));
  const own = await openHomeKeys(keyFiles(home));
  await cardPolicy({ trust: () => must(), own })(await signCard(card, before, "https://example.com/keys"), agent);
});

test("a shared secret is no key of a card, also where one is listed", async () => {
  const secret = Buffer.from("a secret of thirty-two bytes: 1234567");
  const payload = new TextEncoder().encode(canonicalizeAgentCard(card));
  const jws = await new FlattenedSign(payload).setProtectedHeader({ alg: "HS256", kid: "key-1" }).sign(secret);
  const signed = {
    ...card,
    signatures: [{ protected: jws.protected ?? "", signature: jws.signature, header: undefined }],
  };
  const listed = { kid: "key-1", kty: "oct", k: secret.toString("base64url") };
  await expect(admit(must(listed), signed)).rejects.toThrow("invalid signature");
});

test("a card without required values holds its signature in the specification's form, and in the SDKs'", async () => {
  const own = await ownKeys();
  const sparse = { ...card, description: "", skills: [] };
  const signed = await signCard(sparse, await own.ring(), "https://example.com/keys");
  expect(signed.signatures).toHaveLength(2);
  for (const signature of signed.signatures)
    await cardPolicy({ trust: () => must(), own })({ ...signed, signatures: [signature] }, agent);
  await admit(must(publicKey), await sign(sparse));
});

test("where a card says its key can be fetched is not followed if keys are pinned", async () => {
  await using server = keyServer(() => ({ keys: [publicKey] }));
  const keySets = createKeySets({ egress });
  const policy = (trust: CardTrust) => cardPolicy({ trust: () => trust, keySets });
  const signed = await linked(`${server.url}/keys`);
  const where = { name: "greeter", url: server.url };
  await expect(policy(must({ ...publicKey, kid: "key-2" }))(signed, where)).rejects.toThrow("not trusted here");
  expect(server.asked).toEqual([]);
  await policy({ demand: "must-be-signed" })(signed, where);
  await policy({ demand: "must-be-signed" })(signed, where);
  expect(server.asked).toEqual(["/keys"]);
});

test("keys are read from the agent's own server or a listed one, over https or on loopback, without redirects", async () => {
  await using elsewhere = keyServer(() => ({ keys: [publicKey] }));
  await using moved = keyServer(() => Response.redirect(`${elsewhere.url}/keys`));
  const admitted = async (jku: string, url: string, origins: string[] = [], over = {}) => {
    const keySets = createKeySets({ egress: { ...egress, ...over }, origins });
    const policy = cardPolicy({ trust: () => ({ demand: "must-be-signed" }), keySets });
    return policy(await linked(jku), { name: "greeter", url });
  };
  await expect(admitted(`${elsewhere.url}/keys`, moved.url)).rejects.toThrow("key_origins");
  await expect(admitted("http://keys.example.com/keys", "http://keys.example.com")).rejects.toThrow("not an https URL");
  await expect(admitted("file:///etc/passwd", "file:///etc")).rejects.toThrow("not an https URL");
  await expect(admitted(`${moved.url}/keys`, moved.url)).rejects.toThrow("HTTP status 302");
  await expect(admitted(`${elsewhere.url}/keys`, elsewhere.url, [], { deny: ["127.0.0.1"] })).rejects.toThrow("deny");
  expect(elsewhere.asked).toEqual([]);
  await admitted(`${elsewhere.url}/keys`, moved.url, [elsewhere.url]);
  expect(elsewhere.asked).toEqual(["/keys"]);
});

test("a signature that links to no keys is one by a key that is not trusted", async () => {
  const policy = cardPolicy({ trust: () => ({ demand: "must-be-signed" }), keySets: createKeySets({ egress }) });
  await expect(policy(await sign(card), agent)).rejects.toThrow('a signature by "key-1", which is not trusted here');
});

test("of a card's signatures one that holds is enough, and the sixteen that come first are looked at", async () => {
  const [good] = (await sign(card)).signatures;
  const [bad] = (await sign({ ...card, version: "2" })).signatures;
  if (good === undefined || bad === undefined) throw new Error("not signed");
  const signedBy = (before: number) => ({ ...card, signatures: [...Array(before).fill(bad), good] });
  await admit(must(publicKey), signedBy(15));
  await expect(admit(must(publicKey), signedBy(16))).rejects.toMatchObject({ code: "forbidden" });
});

test("keys are read from a JWK set file, and a file that is not one is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "card-keys-"));
  homes.push(folder);
  const path = join(folder, "keys.json");
  const missing = { code: "config_invalid", message: `There is no file ${path} with card keys.` };
  await expect(readKeyFile(path)).rejects.toMatchObject(missing);
  for (const text of ["nonsense", '{"keys":[]}', '{"keys":[{"kty":"EC"}]}']) {
    await Bun.write(path, text);
    const none = { code: "config_invalid", message: `${path} is not a JWK set with a kid for every key.` };
    await expect(readKeyFile(path)).rejects.toMatchObject(none);
  }
  await Bun.write(path, JSON.stringify({ keys: [publicKey, { ...publicKey, kid: "key-2" }] }));
  expect((await readKeyFile(path)).map(({ kid }) => kid)).toEqual(["key-1", "key-2"]);
});

test("a key that is new in a set is found when the set is read again, not before a while has passed", async () => {
  const keys = [{ ...publicKey, kid: "key-0" }];
  await using server = keyServer(() => ({ keys }));
  const find = (sets: ReturnType<typeof createKeySets>) => sets.find(`${server.url}/keys`, "key-1", server.url);
  const patient = createKeySets({ egress });
  await expect(find(patient)).rejects.toMatchObject({ code: "unauthorized" });
  const eager = createKeySets({ egress, againMs: 0 });
  keys.push(publicKey);
  await expect(find(patient)).rejects.toMatchObject({ code: "unauthorized" });
  expect(server.asked).toHaveLength(1);
  expect(await find(eager)).toMatchObject({ kid: "key-1" });
});

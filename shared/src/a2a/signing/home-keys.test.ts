import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calculateJwkThumbprint, type JWK } from "jose";
import { AppError } from "../../core/errors.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { cardPolicy } from "./card-policy.ts";
import { signCard } from "./card-signature.ts";
import { keyFiles, openHomeKeys, rotateHomeKey } from "./home-keys.ts";
import type { PublicKey } from "./public-key.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "home-keys-"));
});
afterEach(() => rm(home, { recursive: true }));

const card = cardOf("Greeter", "http://127.0.0.1:1");
const agent = { name: "greeter", url: "http://127.0.0.1:1" };
const day = 24 * 3_600_000;
const idsOf = (ring: readonly { readonly publicKey: PublicKey }[]) => ring.map(({ publicKey }) => publicKey.kid);
const trusting = (key: PublicKey) => cardPolicy({ trust: () => ({ demand: "must-be-signed", keys: [key] }) });

test("the key of a home from before is its key still, and only its owner can read it", async () => {
  const { privateKey } = (await import("node:crypto")).generateKeyPairSync("ec", { namedCurve: "P-256" });
  await writeFile(join(home, "card-key"), privateKey.export({ type: "pkcs8", format: "pem" }));
  const [one] = await Promise.all([openHomeKeys(keyFiles(home)), openHomeKeys(keyFiles(home))]);
  const [key] = await one.ring();
  expect(key).toMatchObject({ alg: "ES256", publicKey: { kty: "EC", crv: "P-256", use: "sig" } });
  expect(key.publicKey).not.toHaveProperty("d");
  await rotateHomeKey(keyFiles(home));
  for (const file of await readdir(home)) expect((await stat(join(home, file))).mode & 0o777).toBe(0o600);
});

test("the id of a key is its thumbprint, whichever its algorithm", async () => {
  await openHomeKeys(keyFiles(home));
  for (const { publicKey } of await rotateHomeKey(keyFiles(home), { algorithm: "EdDSA" }))
    expect(publicKey.kid).toBe(await calculateJwkThumbprint(publicKey as JWK));
});

test("a server that goes on while a replaced key expires drops it", async () => {
  let now = Date.now();
  const keys = await openHomeKeys(keyFiles(home), () => now);
  await rotateHomeKey(keyFiles(home), { now });
  for (const end = now + 30_000; (await keys.ring()).length !== 2 && Date.now() < end; ) await Bun.sleep(50);
  now += 8 * day;
  for (const end = Date.now() + 30_000; (await keys.ring()).length !== 1 && Date.now() < end; ) await Bun.sleep(50);
  expect(await keys.ring()).toHaveLength(1);
});

test("a replaced key signs and is published beside the new one for a week", async () => {
  const [old] = await (await openHomeKeys(keyFiles(home))).ring();
  const now = Date.now();
  const ring = await rotateHomeKey(keyFiles(home), { algorithm: "EdDSA", now });
  expect(ring.map(({ alg }) => alg)).toEqual(["EdDSA", "ES256"]);
  expect(ring[1]?.publicKey).toEqual({ ...old.publicKey, exp: Math.floor((now + 7 * day) / 1000) });
  const signed = await signCard(card, ring, "https://example.com/keys");
  for (const { publicKey } of [old, ...ring]) await trusting(publicKey)(signed, agent);
  const later = await openHomeKeys(keyFiles(home), () => now + 7 * day);
  expect(idsOf(await later.ring())).toEqual([ring[0].publicKey.kid]);
});

test("a key that a crash left both current and replaced is the current one, without an end", async () => {
  const [key] = await (await openHomeKeys(keyFiles(home))).ring();
  const [, former] = await rotateHomeKey(keyFiles(home));
  await writeFile(join(home, "card-key"), await readFormer());
  const ring = await (await openHomeKeys(keyFiles(home))).ring();
  expect(ring.map(({ publicKey }) => publicKey)).toEqual([key.publicKey]);
  expect(former?.publicKey.kid).toBe(key.publicKey.kid);
});

/** The newest replaced key, as it is stored. */
async function readFormer(): Promise<string> {
  return (await Bun.file(join(home, "former-card-keys.json")).json()).keys[0].pem;
}

test("of replaced keys the newest three stay, and none if they became known", async () => {
  const ids: (string | undefined)[] = [];
  for (let n = 0; n < 5; n++) ids.unshift(idsOf(await rotateHomeKey(keyFiles(home)))[0]);
  expect(idsOf(await (await openHomeKeys(keyFiles(home))).ring())).toEqual(ids.slice(0, 4) as string[]);
  expect(await rotateHomeKey(keyFiles(home), { dropFormer: true })).toHaveLength(1);
});

test("a key is replaced only when it is kept among the former ones", async () => {
  const texts = keyFiles(home);
  const [before] = await (await openHomeKeys(texts)).ring();
  const full = { ...texts.former, change: () => Promise.reject(new Error("The disk is full.")) };
  await expect(rotateHomeKey({ ...texts, former: full })).rejects.toThrow("The disk is full.");
  expect(idsOf(await (await openHomeKeys(texts)).ring())).toEqual([before.publicKey.kid]);
});

test("two that replace the key at once replace it twice, and neither key is lost", async () => {
  const [first] = await (await openHomeKeys(keyFiles(home))).ring();
  const texts = keyFiles(home);
  const rings = await Promise.all([rotateHomeKey(texts), rotateHomeKey(texts)]);
  const [once, twice] = rings.map((ring) => ring[0].publicKey.kid);
  expect(idsOf(await (await openHomeKeys(texts)).ring())).toEqual([twice ?? "", once ?? "", first.publicKey.kid]);
});

test("a key is replaced by one for the same algorithm, and replaced keys that cannot be read are no empty list", async () => {
  await rotateHomeKey(keyFiles(home), { algorithm: "EdDSA" });
  expect((await rotateHomeKey(keyFiles(home))).map(({ alg }) => alg)).toEqual(["EdDSA", "EdDSA", "ES256"]);
  for (const damaged of ["", "nonsense", '{"keys":[{"pem":"x"}]}']) {
    await writeFile(join(home, "former-card-keys.json"), damaged);
    const fault = {
      code: "internal",
      message: expect.stringMatching(/^former-card-keys\.json .* is damaged\. .* remove it: /),
    };
    await expect(openHomeKeys(keyFiles(home))).rejects.toMatchObject(fault);
    await expect(rotateHomeKey(keyFiles(home))).rejects.toMatchObject(fault);
  }
});

test("a running server drops replaced keys of which it finds no record any more", async () => {
  await rotateHomeKey(keyFiles(home));
  const keys = await openHomeKeys(keyFiles(home));
  expect(await keys.ring()).toHaveLength(2);
  await writeFile(join(home, "former-card-keys.json"), '{"keys":[]}');
  const later = performance.now() + 2_000;
  using _ = spyOn(performance, "now").mockReturnValue(later);
  expect(await keys.ring()).toHaveLength(1);
});

test("a server keeps its ring while the place of its keys is away, and tells any other fault of it", async () => {
  const texts = keyFiles(home);
  let fault: Error | undefined;
  const version = async () => (fault === undefined ? texts.current.version() : Promise.reject(fault));
  const keys = await openHomeKeys({ ...texts, current: { ...texts.current, version } });
  const before = await keys.ring();
  const begun = performance.now();
  using clock = spyOn(performance, "now");
  clock.mockReturnValue(begun + 2_000);
  fault = new AppError("storage_unavailable", "The store is away.");
  expect(await keys.ring()).toBe(before);
  clock.mockReturnValue(begun + 4_000);
  fault = new AppError("internal", "It is damaged.");
  await expect(keys.ring()).rejects.toBe(fault);
});

test("a running server signs with a new key soon after, and with the same keys keeps its ring", async () => {
  const keys = await openHomeKeys(keyFiles(home));
  const before = await keys.ring();
  expect(await keys.ring()).toBe(before);
  const [next] = await rotateHomeKey(keyFiles(home));
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(50))
    if ((await keys.ring()) !== before) break;
  expect((await keys.ring())[0].publicKey.kid).toBe(next.publicKey.kid);
});

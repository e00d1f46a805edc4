import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { cardOf } from "../../testing/a2a/card.ts";
import { keyOfSignature } from "../signing/card-signature.ts";
import type { HomeKeys, KeyRing, SigningKey } from "../signing/home-keys.ts";
import type { PublicKey } from "../signing/public-key.ts";
import { keySetApp, signedCard } from "./key-set-route.ts";

function keyNamed(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const half = { ...publicKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" } as PublicKey;
  return { alg: "ES256", key: privateKey, publicKey: half };
}

/** Keys that are replaced by a call of `rotate`. */
function ringOf(...kids: readonly string[]) {
  let ring = kids.map(keyNamed) as unknown as KeyRing;
  const keys: HomeKeys = { ring: async () => ring };
  return {
    keys,
    rotate: (...next: readonly string[]) => {
      ring = next.map(keyNamed) as unknown as KeyRing;
    },
  };
}

test("the public halves of all keys are published as they are now, for minutes, and nothing secret of them", async () => {
  const { keys, rotate } = ringOf("new", "former");
  const app = keySetApp(keys);
  const read = async () => {
    const answer = await app.request("/.well-known/jwks.json");
    expect(answer.headers.get("Cache-Control")).toBe("public, max-age=300");
    return ((await answer.json()) as { keys: PublicKey[] }).keys;
  };
  const published = await read();
  expect(published.map(({ kid }) => kid)).toEqual(["new", "former"]);
  for (const key of published) expect(Object.keys(key).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
  rotate("newest");
  expect((await read()).map(({ kid }) => kid)).toEqual(["newest"]);
});

test("a card is signed by every key there is now, once for as long as they are the same, and says where they are", async () => {
  const card = cardOf("Greeter", "http://a.example");
  const { keys, rotate } = ringOf("new", "former");
  const now = signedCard(card, { publicUrl: "http://a.example/of/greeter//", keys });
  const jku = "http://a.example/of/greeter/.well-known/jwks.json";
  const signed = await now();
  const keysOf = async () => (await now()).signatures.map(keyOfSignature);
  expect(await keysOf()).toEqual([
    { kid: "new", jku },
    { kid: "former", jku },
  ]);
  expect(await now()).toBe(signed);
  rotate("newest");
  expect(await keysOf()).toEqual([{ kid: "newest", jku }]);
  expect(await signedCard(card, { publicUrl: "http://a.example" })()).toBe(card);
});

test("a card that could not be signed is signed when it is asked for again", async () => {
  const { keys } = ringOf("new");
  const [signing] = await keys.ring();
  const { key } = signing;
  let asked = 0;
  const once = () => {
    if (asked++ === 0) throw new Error("The key cannot be read.");
    return key;
  };
  Object.defineProperty(signing, "key", { get: once });
  const now = signedCard(cardOf("Greeter", "http://a.example"), { publicUrl: "http://a.example", keys });
  await expect(now()).rejects.toThrow("The key cannot be read.");
  expect((await now()).signatures.map((one) => keyOfSignature(one).kid)).toEqual(["new"]);
});

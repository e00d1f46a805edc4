import { expect, test } from "bun:test";
import { cardOf } from "../../testing/a2a/card.ts";
import { keysForTest } from "../../testing/a2a/home-keys.ts";
import { keyOfSignature } from "./card-signature.ts";
import { signedCard } from "./signed-card.ts";

test("a card is signed by every key there is now, once for as long as they are the same, and says where they are", async () => {
  const card = cardOf("Greeter", "http://a.example");
  const { keys, rotate } = keysForTest("new", "former");
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
  const { keys } = keysForTest("new");
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

import { expect, test } from "bun:test";
import { keysForTest } from "../../testing/a2a/home-keys.ts";
import type { PublicKey } from "../signing/public-key.ts";
import { keySetApp } from "./key-set-route.ts";

test("the public halves of all keys are published as they are now, for minutes, and nothing secret of them", async () => {
  const { keys, rotate } = keysForTest("new", "former");
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

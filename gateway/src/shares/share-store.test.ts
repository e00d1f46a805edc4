import { expect, test } from "bun:test";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import { openShares } from "./share-store.ts";

function textInMemory(): KeptText & { body: string | undefined } {
  const text: KeptText & { body: string | undefined } = {
    body: undefined,
    read: async () => text.body,
    version: async () => text.body ?? "",
    async change(next) {
      text.body = next(text.body);
    },
    alone: (_, work) => work(),
  };
  return text;
}

test("a link counts until its time is up, and is gone from the text with the next change", async () => {
  const text = textInMemory();
  let now = 1_000;
  const shares = openShares(text, () => now);
  const share = await shares.add({ runId: "r", principal: "ann", lifeMs: 500 });
  now = 1_499;
  expect((await shares.find(share.secret))?.runId).toBe("r");
  now = 1_500;
  expect(await shares.find(share.secret)).toBeUndefined();
  expect(await shares.list("ann")).toEqual([]);
  await shares.add({ runId: "r2", principal: "ann", lifeMs: 500 });
  expect(text.body).not.toContain(share.id);
});

test("a principal has 200 links at most, whatever others have", async () => {
  const shares = openShares(textInMemory());
  const add = (principal: string) => shares.add({ runId: "r", principal, lifeMs: 60_000 });
  for (let n = 0; n < 200; n++) await add("ann");
  expect(add("ann")).rejects.toMatchObject({ code: "conflict" });
  await add("bob");
});

test("a text that is damaged opens nothing and says so", async () => {
  const text = textInMemory();
  text.body = "{";
  expect(openShares(text).find("mhs_x")).rejects.toThrow("shares.json is damaged");
});

import { expect, test } from "bun:test";
import { textInMemory } from "manyhands/internal/testing/durable/text-in-memory";
import { openShares } from "./share-store.ts";

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
  const secrets = new Set<string>();
  for (let n = 0; n < 200; n++) secrets.add((await add("ann")).secret);
  // Nothing to guess, and no two alike.
  expect(secrets.size).toBe(200);
  for (const secret of secrets) expect(secret).toMatch(/^mhs_[\w-]{43}$/);
  await expect(add("ann")).rejects.toMatchObject({ code: "conflict" });
  await add("bob");
});

test("a text that is damaged opens nothing and says so", async () => {
  const text = textInMemory();
  text.body = "{";
  expect(openShares(text).find("mhs_x")).rejects.toThrow(
    /^shares\.json .* is damaged\. Put the one of a backup in its place, or remove it: /,
  );
});

test("a principal sees and revokes its own links only, the newest first, and never a secret or its hash", async () => {
  const text = textInMemory();
  const shares = openShares(text, () => 1_000);
  const made = [];
  for (const [runId, principal] of [
    ["r1", "ann"],
    ["r2", "bob"],
    ["r3", "ann"],
  ] as const)
    made.push(await shares.add({ runId, principal, lifeMs: 1_000 }));
  const [first, foreign, last] = made;
  const plain = ({ secret: _, ...rest }: NonNullable<typeof first>) => rest;
  if (first === undefined || foreign === undefined || last === undefined) throw new Error("There are three.");
  expect(await shares.list("ann")).toEqual([plain(last), plain(first)]);
  expect(await shares.find(first.secret)).toEqual(plain(first));
  expect(await shares.find(first.id)).toBeUndefined();
  expect(first).toMatchObject({ createdAt: 1_000, expiresAt: 2_000 });
  for (const id of [foreign.id, "none"])
    await expect(shares.revoke(id, "ann")).rejects.toMatchObject({ code: "not_found" });
  await shares.revoke(first.id, "ann");
  expect([await shares.find(first.secret), (await shares.list("ann")).length]).toEqual([undefined, 1]);
  expect((await shares.find(foreign.secret))?.runId).toBe("r2");
  for (const { secret } of made) expect(text.body).not.toContain(secret);
});

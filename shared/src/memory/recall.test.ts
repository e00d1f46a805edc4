import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecallRequest } from "../core/memory.ts";
import { modelConfigSchema } from "../models/config.ts";
import { createEmbedder } from "../models/embeddings.ts";
import { startEmbeddings } from "../testing/memory/embedding-server.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createRecall, type RecallBounds } from "./recall.ts";
import { sqliteRows } from "./sqlite-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-recall-"));
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
function memoryWith(given: { bounds?: Partial<RecallBounds>; embeddings?: string } = {}) {
  const rows = sqliteRows(join(folder, `${count++}.db`));
  const store = createMemoryStore(rows, { entries: 100, entryCharacters: 500 });
  const price = { inputPerMillion: 2, outputPerMillion: 0 };
  const recall = createRecall({
    store,
    bounds: { entries: 10, tokens: 500, similarity: 0.35, ...given.bounds },
    isOn: (principal) => principal !== "nobody",
    embedder:
      given.embeddings === undefined
        ? undefined
        : createEmbedder(modelConfigSchema.parse({ name: "e", baseUrl: given.embeddings, price })),
  });
  const add = (text: string, kind: "fact" | "preference" | "how-to" = "fact") =>
    store.add("ann", { text, kind, by: "person" });
  const request = { known: async () => [], contextWindow: 100_000, signal: new AbortController().signal };
  const ask = (words: string, more: Partial<RecallRequest> = {}) =>
    recall({ principal: "ann", words, ...request, ...more });
  return { store, add, ask, textsFor: async (words: string) => (await ask(words))?.entries.map(({ text }) => text) };
}

test("preferences come to every task, other entries to those whose words they share", async () => {
  const { add, ask, textsFor } = memoryWith();
  expect(await ask("anything")).toBeUndefined();
  await add("Answer in German.", "preference");
  await add("The sales table is in warehouse.db.");
  await add("Releases are tagged by hand.", "how-to");
  expect(await textsFor("Sum up the sales of May.")).toEqual([
    "Answer in German.",
    "The sales table is in warehouse.db.",
  ]);
  expect(await textsFor("How is a release made?")).toEqual(["Answer in German.", "Releases are tagged by hand."]);
  expect((await ask("Nothing of this."))?.takenIn).toEqual(["own memory"]);
  expect(await ask("Sum up the sales.", { principal: "bob" })).toBeUndefined();
  expect(await ask("Sum up the sales.", { principal: "nobody" })).toBeUndefined();
});

test("what is shown is bounded in entries, tokens and by the model's window, and nothing is shown twice", async () => {
  const { add, ask } = memoryWith({ bounds: { entries: 3, tokens: 200 } });
  for (let n = 0; n < 6; n++) await add(`Rule ${n}: ${"be kind ".repeat(20)}`, "preference");
  expect((await ask("x"))?.entries).toHaveLength(3);
  expect((await ask("x", { contextWindow: 1_500 }))?.entries).toHaveLength(1);
  const { entries = [] } = (await ask("x")) ?? {};
  const later = await ask("x", { known: async () => entries });
  expect(later?.entries.filter(({ id }) => entries.some((one) => one.id === id))).toEqual([]);
});

test("with embeddings entries are found by meaning; vectors are made once, and their cost is told", async () => {
  await using server = startEmbeddings([["dog", "puppy"], ["car"]]);
  const { add, ask } = memoryWith({ embeddings: server.url });
  await add("The dog is called Rex.");
  await add("The car needs oil.");
  const found = await ask("Buy food for the puppy");
  expect(found).toMatchObject({
    entries: [{ text: "The dog is called Rex." }],
    by: "meaning",
    usage: { inputTokens: 15, outputTokens: 0, costUsd: 0.00003, source: "provider" },
  });
  expect((await ask("A walk with the puppy"))?.usage?.inputTokens).toBe(5);
  expect(server.asked.map((texts) => texts.length)).toEqual([3, 1]);
  await add("The second dog is called Max.");
  expect((await ask("puppy"))?.entries).toHaveLength(2);
  expect(server.asked.at(-1)).toEqual(["puppy", "The second dog is called Max."]);
});

test("embeddings are asked only where they can lead to something, and only for what is not known yet", async () => {
  await using server = startEmbeddings([["dog", "puppy"]]);
  const { add, ask } = memoryWith({ embeddings: server.url });
  await add("Answer in German.", "preference");
  expect((await ask("puppy"))?.by).toBe("words");
  const { id } = await add("The dog is called Rex.");
  expect((await ask(" \n"))?.entries).toHaveLength(1);
  const known = async () => [{ id, kind: "fact" as const, text: "The dog is called Rex." }];
  expect((await ask("puppy", { known }))?.by).toBe("words");
  expect(server.asked).toEqual([]);
  expect(
    (await ask("puppy", { known: async () => [{ id, kind: "fact" as const, text: "The dog was Rex." }] }))?.by,
  ).toBe("meaning");
});

test("words that are in every entry and task lead to none, a short name with a digit does", async () => {
  const { add, textsFor } = memoryWith();
  await add("The user's fiscal year begins on 1 July.");
  await add("S3 in the user's sales files is the store in Chur.");
  expect(await textsFor("Log the user in and answer from the files; the task begins anew.")).toBeUndefined();
  await add("Quotes for Norrland always go out in kronor: first take off 12 %, then round up to the next 5.");
  expect(await textsFor("We row again next summer for the first time, and always go out early.")).toBeUndefined();
  expect(await textsFor("What did S3 take?")).toEqual(["S3 in the user's sales files is the store in Chur."]);
});

test("when the embeddings fail, words still find, and why is told", async () => {
  await using server = startEmbeddings([["dog"]]);
  const { add, ask } = memoryWith({ embeddings: server.url });
  await add("The dog is called Rex.");
  server.failWith(500);
  expect(await ask("What is the dog called?")).toMatchObject({
    entries: [{ text: "The dog is called Rex." }],
    by: "words",
    trouble: expect.stringContaining("The embeddings of e failed"),
  });
});

test("an entry brings the sources it was written from, and one that anybody may know brings nothing else", async () => {
  const { store, ask } = memoryWith();
  await store.add("ann", { text: "Use metric units.", kind: "preference", by: "person", isPublic: true });
  expect((await ask("x"))?.takenIn).toEqual([]);
  await store.add("ann", { text: "Seen there.", kind: "preference", by: "agent", sources: ["web"], isPublic: true });
  expect((await ask("x"))?.takenIn).toEqual(["web"]);
});

import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RecallRequest } from "../core/memory.ts";
import { modelConfigSchema } from "../models/config.ts";
import { createEmbedder, type Embedder } from "../models/embeddings.ts";
import { startEmbeddings } from "../testing/memory/embedding-server.ts";
import { createMemoryStore } from "./memory-store.ts";
import { createRecall, type RecallBounds } from "./recall.ts";
import { sqliteRows } from "./sqlite-rows.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-recall-"));
afterAll(() => rm(folder, { recursive: true }));

let count = 0;
function memoryWith(given: { bounds?: Partial<RecallBounds>; embeddings?: string; embedder?: Embedder } = {}) {
  const rows = sqliteRows(join(folder, `${count++}.db`));
  const store = createMemoryStore(rows, { entries: 100, entryCharacters: 500 });
  const price = { inputPerMillion: 2, outputPerMillion: 0 };
  const recall = createRecall({
    store,
    bounds: { entries: 10, tokens: 500, similarity: 0.35, ...given.bounds },
    isOn: (principal) => principal !== "nobody",
    embedder:
      given.embeddings === undefined
        ? given.embedder
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
  const { store, add, ask, textsFor } = memoryWith();
  // Of who has no memory any more nothing is shown.
  await store.add("nobody", { text: "Answer in Greek.", kind: "preference", by: "person" });
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

test("what is shown brings its own sources, not those of what there was no room for", async () => {
  const { store, add, ask } = memoryWith({ bounds: { entries: 1 } });
  await store.add("ann", { text: "Buy there.", kind: "preference", by: "agent", sources: ["shop.example"] });
  await add("Answer in German.", "preference");
  expect(await ask("x")).toMatchObject({ entries: [{ text: "Answer in German." }], takenIn: ["own memory"] });
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
  await store.add("ann", { text: "The harbour is closed.", kind: "fact", by: "agent", sources: ["files"] });
  // What it is not shown brings nothing.
  expect((await ask("x"))?.takenIn).toEqual(["web"]);
  expect((await ask("harbour"))?.takenIn).toContain("files");
});

/** An embedder of texts that say their own vector, as in "(1, 0.5) the dog". */
function spelled(
  before: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Embedder & { asked: string[][] } {
  const asked: string[][] = [];
  return {
    asked,
    model: "spelled",
    async embed(texts: readonly string[], signal: AbortSignal) {
      asked.push([...texts]);
      await before(signal);
      const vectors = texts.map((text) => {
        const [x = 0, y = 0] = text.match(/-?[\d.]+/g)?.map(Number) ?? [];
        const length = Math.hypot(x, y) || 1;
        return Float32Array.of(x / length, y / length);
      });
      return {
        vectors,
        usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 0, costUsd: 0, source: "provider" },
      };
    },
  } as Embedder & { asked: string[][] };
}

test("what is closest comes first, what is far not at all, and an entry that words find too comes before both", async () => {
  const { add, textsFor } = memoryWith({ embedder: spelled() });
  const near = "(1.0, 0.2) quay";
  const nearest = "(1.0, 0.1) mole";
  const both = "(1.0, 0.3) harbour";
  for (const text of [near, both, nearest, "(0.1, 1.0) lake"]) await add(text);
  expect(await textsFor("(1.0, 0.0) harbours")).toEqual([both, nearest, near]);
});

test("words lead to the entry that has most of them first, and to as many as there is room for", async () => {
  const { add, textsFor } = memoryWith({ bounds: { tokens: 60 } });
  await add("The harbour is closed.");
  await add("Long ".repeat(60));
  await add("The harbour master of Oslo is Kari.");
  expect(await textsFor("Ask the harbour master in Oslo. long")).toEqual([
    "The harbour master of Oslo is Kari.",
    "The harbour is closed.",
  ]);
  const embedder = spelled();
  const none = memoryWith({ bounds: { entries: 0 }, embedder });
  await none.add("The harbour is closed.");
  expect([await none.ask("harbour"), embedder.asked]).toEqual([undefined, []]);
});

test("embeddings that take too long leave what words find; a task that is canceled meanwhile ends with its reason", async () => {
  const inTime = AbortSignal.timeout;
  // A thousandth of the time.
  using timeout = spyOn(AbortSignal, "timeout").mockImplementation((ms) => inTime(ms / 1_000));
  const gone: boolean[] = [];
  const hang = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      gone.push(signal.aborted);
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const { add, ask } = memoryWith({ embedder: spelled(hang) });
  await add("The harbour is closed.");
  expect(await ask("harbour")).toMatchObject({
    entries: [{ text: "The harbour is closed." }],
    by: "words",
    trouble: "The embeddings took longer than 5 s.",
  });
  // Trouble is told also where nothing was found.
  expect(await ask("lake")).toMatchObject({ entries: [], trouble: expect.stringContaining("5 s") });
  expect(timeout.mock.calls[0]).toEqual([5_000]);
  const stop = new AbortController();
  stop.abort(new Error("canceled"));
  await expect(ask("harbour", { signal: stop.signal })).rejects.toThrow("canceled");
  expect(gone).toEqual([false, false, true]);
});

test("what finding cost is told also where nothing was found, and no bug is taken for trouble", async () => {
  const found = memoryWith({ embedder: spelled() });
  await found.add("(0.0, 1.0) lake");
  expect(await found.ask("(1.0, 0.0) quay")).toMatchObject({ entries: [], by: "meaning", usage: { inputTokens: 1 } });
  const broken = memoryWith({ embedder: spelled(() => Promise.reject(new TypeError("a bug"))) });
  await broken.add("lake");
  await expect(broken.ask("quay")).rejects.toThrow("a bug");
});

test("of a long message its beginning is what it is about", async () => {
  const embedder = spelled();
  const { add, textsFor } = memoryWith({ embedder });
  await add("The harbour is closed.");
  expect(await textsFor(`${"x ".repeat(2_000)}harbour`)).toEqual([]);
  expect(embedder.asked[0]?.[0]).toHaveLength(4_000);
  // No character is cut in half.
  await textsFor(`${"x".repeat(3_999)}😀`);
  expect(embedder.asked[1]?.[0]?.isWellFormed()).toBe(true);
});

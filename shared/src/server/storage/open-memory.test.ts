import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../config/config.ts";
import type { MoreTools } from "../../core/agent.ts";
import { sqliteRows } from "../../memory/sqlite-rows.ts";
import { startEmbeddings } from "../../testing/memory/embedding-server.ts";
import { openMemory, openMemoryStore } from "./open-memory.ts";

const folder = mkdtempSync(join(tmpdir(), "manyhands-open-memory-"));
afterAll(() => rm(folder, { recursive: true }));

const none: MoreTools = {
  list: async () => ({ tools: [], missing: [] }),
  offer: (tools) => tools,
  mayHave: () => false,
  release: async () => undefined,
};

let count = 0;
async function opened(env: Record<string, string>) {
  const config = await loadConfig({ cwd: folder, env });
  const path = join(folder, `${count++}.db`);
  const rows = { opened: 0, closed: 0 };
  const shared = {
    memory() {
      rows.opened++;
      const own = sqliteRows(path);
      const close = () => {
        rows.closed++;
        return own.close();
      };
      return { ...own, close };
    },
  };
  const memory = openMemory(config, shared);
  const toolsOf = async (principal: string) =>
    (await memory.over(none).list(principal, AbortSignal.timeout(10_000))).tools.map(({ name }) => name);
  const store = () => openMemoryStore(config, { memory: () => sqliteRows(path) });
  const recalled = async (principal: string, words: string) =>
    await memory.recall?.({
      ...{ principal, words, contextWindow: 100_000 },
      known: async () => [],
      signal: AbortSignal.timeout(10_000),
    });
  return { memory, rows, toolsOf, store, recalled };
}

test("where the settings give nobody a memory, none is opened", async () => {
  const { memory, rows } = await opened({});
  expect(memory.over(none)).toBe(none);
  expect(memory.recall).toBeUndefined();
  await memory.close();
  expect(rows).toEqual({ opened: 0, closed: 0 });
});

test("only the named principals have a memory, within the bounds of the settings, and it is closed with the server", async () => {
  const { memory, rows, toolsOf, store, recalled } = await opened({
    MANYHANDS_MEMORY_PRINCIPALS: "ann",
    MANYHANDS_MEMORY_ENTRIES: "3",
    MANYHANDS_MEMORY_RECALL_ENTRIES: "2",
  });
  expect([await toolsOf("ann"), await toolsOf("bob")]).toEqual([["memory"], []]);
  const kept = store();
  const add = (principal: string, text: string) => kept.add(principal, { text, kind: "preference", by: "person" });
  for (const text of ["Tea.", "Milk.", "Sugar."]) await add("ann", text);
  await expect(add("ann", "Salt.")).rejects.toMatchObject({ code: "conflict" });
  await add("bob", "Coffee.");
  const found = await recalled("ann", "What do I drink?");
  expect(found?.entries).toHaveLength(2);
  expect(found?.by).toBe("words");
  expect(await recalled("bob", "What do I drink?")).toBeUndefined();
  await Promise.all([kept.close(), memory.close()]);
  expect(rows).toEqual({ opened: 1, closed: 1 });
});

test("with a model for embeddings entries are found by what they mean", async () => {
  await using embeddings = startEmbeddings([["sales"]]);
  const { memory, store, recalled } = await opened({
    MANYHANDS_MEMORY_PRINCIPALS: "*",
    MANYHANDS_MEMORY_EMBEDDINGS: "e",
    OPENAI_BASE_URL: embeddings.url,
  });
  const kept = store();
  await kept.add("ann", { text: "The sales table is in warehouse.db.", kind: "fact", by: "person" });
  expect((await recalled("ann", "Sum up the sales."))?.by).toBe("meaning");
  await Promise.all([kept.close(), memory.close()]);
});

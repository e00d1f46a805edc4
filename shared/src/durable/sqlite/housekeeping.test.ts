import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scratch } from "../../testing/durable/scratch.ts";
import { request } from "../conformance/cases.ts";
import { createEmbeddedEngine } from "./embedded-engine.ts";

/** How often the word occurs in the store's files. */
function occurrences(path: string, word: string): number {
  const folder = dirname(path);
  return readdirSync(folder).reduce((sum, name) => {
    const bytes = readFileSync(join(folder, name));
    let found = 0;
    for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + 1)) found++;
    return sum + found;
  }, 0);
}

test("no word of a deleted run is left in the store's files, in rows of any size, moved and replaced ones", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const other = createEmbeddedEngine({ path: store.path });
  const sizes = [10, 50, 300, 900, 3000, 9000];
  const said = (word: string, n: number) => `${word} `.repeat(1 + (sizes[n % sizes.length] ?? 0) / 10);
  engine.work([
    {
      kind: "test",
      async execute(run, input) {
        for (let n = 0; n < 6; n++)
          await run.step("s", async (step) => {
            step.emit({ type: "x", text: said(String(input), n + run.id.charCodeAt(35)) });
            return said(String(input), n * 7 + run.id.charCodeAt(34));
          });
        return input;
      },
    },
  ]);
  const ids: string[] = [];
  for (let n = 0; n < 40; n++)
    ids.push((await engine.start({ ...request, input: n % 2 === 0 ? "SECRETWORD" : "PLAINWORD" })).run.id);
  for (const id of ids) for await (const _ of engine.follow(id, { signal: AbortSignal.timeout(20_000) }));
  expect(occurrences(store.path, "SECRETWORD")).toBeGreaterThan(1000);
  await other.delete({ runIds: ids.filter((_, n) => n % 2 === 0), thorough: true });
  expect(await other.scrub()).toBe(true);
  expect(occurrences(store.path, "SECRETWORD")).toBe(0);
  expect(occurrences(store.path, "PLAINWORD")).toBeGreaterThan(1000);
  expect((await engine.get(ids[1] ?? ""))?.output).toBe("PLAINWORD");
  await engine.delete({ runIds: ids.filter((_, n) => n % 2 === 1) });
  expect((await engine.list({ limit: 1 })).total).toBe(0);
  for (const one of [engine, other]) await one.close({ graceMs: 0 });
}, 60_000);

test("the number of a deleted run is never given to another, whose lease it would fit", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  using db = new Database(store.path);
  const numbers = () => db.query<{ n: number }, []>("SELECT n FROM runs ORDER BY n").all();
  const { run } = await engine.start({ ...request, canceled: true });
  const [first] = numbers();
  await engine.delete({ runIds: [run.id] });
  await engine.start(request);
  expect(numbers()).toEqual([{ n: (first?.n ?? 0) + 1 }]);
  await engine.close({ graceMs: 0 });
});

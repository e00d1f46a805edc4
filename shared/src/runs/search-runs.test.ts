import { expect, test } from "bun:test";
import type { Engine, ListFilter } from "../core/runs/engine.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { listRuns } from "./list-runs.ts";
import { createProjectionCache } from "./projection-cache.ts";
import type { Runnable } from "./runnable.ts";

const sequential = { name: "sequential", kind: "sequential" } as Runnable;
const runnables = { all: () => [sequential], ofKind: () => sequential };

/** Runs of which every eighth says "harbour" and one says "lighthouse", in the index. */
async function harbours(engine: Engine, count: number): Promise<string[]> {
  const saying: string[] = [];
  for (let n = 0; n < count; n++) {
    const text = n % 8 === 3 ? "Look at the harbour." : n === 4 ? "The lighthouse keeper." : "Nothing to see.";
    const { run } = await engine.start({
      ...{ kind: "sequential", principal: "ann", contextId: "c", input: null, canceled: true },
      events: [{ type: "message-received", messageId: "m", parts: [{ type: "text", text }] }],
    });
    if (n % 8 === 3) saying.unshift(run.id);
  }
  while ((await engine.indexWords()) > 0);
  return saying;
}

test("pages of a common word have each run that says it once, in order, and take few reads of the list", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const asked: ListFilter[] = [];
  const list: Engine["list"] = (filter) => {
    asked.push(filter);
    return engine.list(filter);
  };
  const deps = { engine: { ...engine, list }, projections: createProjectionCache(engine), runnables };
  const saying = await harbours(engine, 600);
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    asked.length = 0;
    const page = await listRuns(deps, { words: ["harbour"], limit: 20, ...(cursor && { cursor }) }, "ann");
    expect([...(page.found?.keys() ?? [])]).toEqual(page.runs.map(({ id }) => id));
    found.push(...page.runs.map(({ id }) => id));
    cursor = page.nextCursor;
    expect(asked.length).toBeLessThanOrEqual(3);
  } while (cursor !== undefined);
  expect(found).toEqual(saying);

  asked.length = 0;
  expect((await listRuns(deps, { words: ["lighthouse"], limit: 20 }, "ann")).runs).toHaveLength(1);
  expect(asked.map(({ words }) => words)).toEqual([undefined, undefined, ["lighthouse"]]);
  await engine.close();
}, 60_000);

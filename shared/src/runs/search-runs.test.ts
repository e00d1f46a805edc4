import { expect, spyOn, test } from "bun:test";
import type { Engine, ListFilter } from "../core/runs/engine.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { listRuns, type RunFilter } from "./list-runs.ts";
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

const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.5, source: "provider" } as const;
const replied = { type: "model-replied", text: "", toolCalls: [], usage, model: "m", milliseconds: 1 } as const;
const says = (text: string) => ({ type: "message-received", messageId: "m", parts: [{ type: "text", text }] }) as const;
const asks = (agent: string) =>
  ({ type: "agent-asked", askId: agent, agent, url: "u", text: "", parts: [], hops: 1 }) as const;
const wants = { type: "question-asked", question: "Which?", kind: "question" } as const;

test.each<readonly [string, Partial<RunFilter>, string]>([
  ["that cost so much", { minUsd: 0.5 }, "dear asking"],
  ["that cost more", { minUsd: 0.51 }, ""],
  ["that cost anything", { minUsd: 0 }, "dear asking other ended"],
  ["an agent worked on", { agent: "swe" }, "asking other"],
  ["of the agent itself", { agent: "sequential" }, "dear asking other ended"],
  ["of a kind, which is no agent's name", { agent: "flow/sequential" }, ""],
  ["an agent worked on, at a cost", { agent: "swe", minUsd: 0.5 }, "asking"],
  ["that say a word and cost so much", { words: ["harbour"], minUsd: 0.5 }, "dear asking"],
  ["that say a word, of an agent", { words: ["harbour"], agent: "swe" }, "asking"],
  ["that wait for an answer and say a word", { words: ["harbour"], statuses: ["input-required"] }, "asking"],
  ["that are over and cost anything", { minUsd: 0, statuses: ["canceled"] }, "ended"],
  ["that wait for an answer, of an agent", { agent: "swe", statuses: ["input-required"] }, "asking other"],
])("of the runs %s there are these", async (_, filter, names) => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  const flow = { ...sequential, kind: "flow/sequential" };
  const deps = {
    engine,
    projections: createProjectionCache(engine),
    runnables: { all: () => [flow], ofKind: () => flow },
  };
  const given = {
    dear: [says("the harbour"), replied],
    asking: [says("the harbour"), asks("swe"), replied, wants],
    other: [says("a lake"), asks("swe"), wants],
    ended: [says("the harbour")],
  };
  engine.work([{ kind: flow.kind, execute: (run) => run.signal("never") }]);
  const ids = new Map<string, string>();
  for (const [name, events] of Object.entries(given)) {
    const request = { kind: flow.kind, input: null, principal: "ann", contextId: "c", events: [...events] };
    const { run } = await engine.start({ ...request, canceled: name === "ended" });
    ids.set(run.id, name);
    if (name !== "ended") while ((await engine.get(run.id))?.status !== "waiting") await Bun.sleep(1);
  }
  const { runs, total } = await listRuns(deps, { limit: 9, ...filter }, "ann");
  expect([runs.map(({ id }) => ids.get(id) ?? id).toSorted(), total]).toEqual([
    names.split(" ").filter(Boolean).toSorted(),
    undefined,
  ]);
  expect((await listRuns(deps, { limit: 9, ...filter }, "bob")).runs).toEqual([]);
  await engine.close({ graceMs: 0 });
});

test("a page that finds nothing in its time says where the next one goes on", async () => {
  const engine = createEmbeddedEngine({ path: ":memory:" });
  const deps = { engine, projections: createProjectionCache(engine), runnables };
  await harbours(engine, 120);
  const filter = { words: ["lighthouse"], limit: 5 };
  const real = () => Bun.nanoseconds() / 1_000_000;
  let ahead = 0;
  const pages: number[] = [];
  let cursor: string | undefined;
  do {
    // Between two looks at the clock most of the time that a page has is over.
    const clock = spyOn(performance, "now").mockImplementation(() => {
      ahead += 600;
      return real() + ahead;
    });
    const page = await listRuns(deps, { ...filter, ...(cursor && { cursor }) }, "ann").finally(() =>
      clock.mockRestore(),
    );
    pages.push(page.runs.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(pages.length).toBeGreaterThan(1);
  expect([...new Set(pages.slice(0, -1)), pages.at(-1)]).toEqual([0, 1]);
  await engine.close({ graceMs: 0 });
});

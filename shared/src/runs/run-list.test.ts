import { expect, test } from "bun:test";
import type { Engine, ListFilter, RunRecord, StoredEvent } from "../core/runs/engine.ts";
import type { RunFilter } from "./list-runs.ts";
import { createProjectionCache } from "./projection-cache.ts";
import { createQuotas } from "./quotas.ts";
import type { RunView } from "./run-view.ts";
import type { Runnable } from "./runnable.ts";
import { openRuns, type Runs } from "./runs.ts";

const runnable = (name: string, ownKind?: string): Runnable => ({
  type: "agent",
  name,
  kind: `${name}-runs`,
  ...(ownKind !== undefined && { ownKind }),
  title: name,
  description: "",
  version: "1",
  skills: [],
  admit: () => ({}),
});
const [swe, manus] = [runnable("swe", "swe"), runnable("manus")];

/**
 * Runs whose letters say how each is: r(unning), w(aiting), q(uestion open), a(uthorization),
 * c(ompleted).
 */
function runsOf(letters: string): { runs: Runs; asked: ListFilter[] } {
  const statuses = { r: "running", w: "waiting", q: "waiting", a: "running", c: "completed" } as const;
  const records = [...letters].map(
    (letter, at) =>
      ({
        id: `${at}${letter}`,
        status: statuses[letter as "r"],
        lastEvent: "qa".includes(letter) ? 1 : 0,
      }) as RunRecord,
  );
  const asked: ListFilter[] = [];
  const engine = {
    async list(filter: ListFilter) {
      asked.push(filter);
      const fitting = records.filter(({ status }) => filter.statuses?.includes(status) ?? true);
      const from = Number(filter.cursor ?? 0);
      const runs = fitting.slice(from, from + filter.limit);
      const next = from + filter.limit;
      return { runs, total: fitting.length, ...(next < fitting.length && { nextCursor: String(next) }) };
    },
    async events(id: string): Promise<readonly StoredEvent[]> {
      const kind = id.endsWith("a") ? "authorization" : "question";
      return [{ runId: id, seq: 1, at: 0, event: { type: "question-asked", question: "?", kind } }];
    },
  } as unknown as Engine;
  const runs = openRuns({
    engine,
    artifacts: {} as never,
    projections: createProjectionCache(engine),
    runnables: { all: () => [swe, manus], ofKind: () => undefined },
    quotas: createQuotas(),
    publicUrl: "http://a.example",
  });
  return { runs, asked };
}

/** Every page of a list: the ids on it, and the total it names. */
async function pages(letters: string, filter: RunFilter) {
  const { runs } = runsOf(letters);
  const found: (readonly [string, number | undefined])[] = [];
  let cursor: string | undefined;
  do {
    const page = await runs.list({ ...filter, ...(cursor !== undefined && { cursor }) }, "ann");
    found.push([page.runs.map(({ id }) => id).join(" "), page.total]);
    cursor = page.nextCursor;
  } while (cursor !== undefined && found.length < 20);
  return found;
}

test.each<readonly [RunView["status"], readonly string[]]>([
  ["running", ["0r 4r", "7r"]],
  ["waiting", ["1w"]],
  ["input-required", ["2q 5q", "6q"]],
  ["auth-required", ["3a"]],
  ["completed", ["8c"]],
])(
  "runs that are %s are listed as callers see them, in order, page by page, with their count",
  async (status, listed) => {
    const letters = "rwqarqqrc";
    const count = listed.join(" ").split(" ").length;
    const found = await pages(letters, { statuses: [status], limit: 2 });
    expect(found.filter(([ids]) => ids !== "")).toEqual(listed.map((ids) => [ids, count] as const));
  },
);

test("a list without a status has the runs of every runnable that no other run asked for, of this principal", async () => {
  const { runs, asked } = runsOf("rc");
  expect((await runs.list({ limit: 9, contextId: "c" }, "ann")).total).toBe(2);
  expect(asked).toEqual([
    { limit: 9, contextId: "c", kinds: ["swe-runs", "swe", "manus-runs"], principal: "ann", asked: false },
  ]);
});

test("the runs of one runnable are those started here and, if they share a home, at the agent itself", async () => {
  const { runs, asked } = runsOf("rc");
  await runs.list({ of: swe, limit: 9 }, "ann");
  await runs.list({ of: manus, limit: 9, statuses: ["paused"] }, "ann");
  expect(asked.map(({ kinds, statuses }) => [kinds, statuses])).toEqual([
    [["swe-runs", "swe"], undefined],
    [["manus-runs"], ["paused"]],
  ]);
});

test("what is counted is what is listed: of the same principal, kinds and conversation", async () => {
  const { runs, asked } = runsOf("rq");
  await runs.list({ of: swe, statuses: ["running"], contextId: "c", limit: 3 }, "ann");
  expect(asked.length).toBeGreaterThan(1);
  for (const filter of asked)
    expect(filter).toMatchObject({ principal: "ann", kinds: ["swe-runs", "swe"], contextId: "c", asked: false });
});

test("more than two hundred runs under way are all counted", async () => {
  const [page] = await pages("rq".repeat(205), { statuses: ["running"], limit: 3 });
  expect(page).toEqual(["0r 2r 4r", 205]);
});

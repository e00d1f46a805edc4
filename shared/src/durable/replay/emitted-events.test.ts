import { expect, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { executionOn } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { JournalRow } from "./run-store.ts";

const step = (path: string, name: string): JournalRow => ({ path, kind: "step", name, state: "done", out: "1" });
const emit = (path: string, name: string): JournalRow => ({ path, kind: "emit", name, state: "done" });

/** A journal written by versions that numbered events like operations. */
const numbered: readonly JournalRow[] = [
  emit("0", "begun"),
  step("1", "one"),
  emit("2", "told"),
  emit("3", "told"),
  { path: "4", kind: "all", name: "2", state: "started" },
  emit("4/0/0", "within"),
  step("4/0/1", "branch"),
  step("4/1/0", "branch"),
  ...Array.from({ length: 9 }, (_, n) => step(`${5 + n}`, "many")),
  emit("14", "late"),
];

/**
 * Executes a body on the numbered journal to its end; returns what was executed and emitted, and
 * under which paths.
 */
async function goOn(telling: (run: Run, place: string) => void) {
  const store = new MemoryRunStore(emptyState());
  for (const row of numbered.toReversed()) store.state.journal.set(row.path, row);
  const executed: string[] = [];
  const work = (run: Run, name: string) => run.step(name, async ({ key }) => executed.push(key));
  const execution = await executionOn(store, async (run) => {
    telling(run, "start");
    await work(run, "one");
    telling(run, "one");
    await run.all([
      async (own) => {
        telling(own, "branch");
        return work(own, "branch");
      },
      async (own) => work(own, "branch"),
    ]);
    for (let n = 0; n < 9; n++) await work(run, "many");
    telling(run, "many");
    await work(run, "new");
  });
  const outcome = await execution.done;
  return { outcome, executed, events: store.state.events.map(({ type }) => type), paused: store.state.paused };
}

const before: Readonly<Record<string, readonly string[]>> = {
  start: ["begun"],
  one: ["told", "told"],
  branch: ["within"],
  many: ["late"],
};

function tell(run: Run, types: readonly string[] = []): void {
  for (const type of types) run.emit({ type });
}

test("a journal with numbered events continues with the code that wrote it, and nothing is emitted or done again", async () => {
  const went = await goOn((run, place) => tell(run, before[place]));
  expect(went).toEqual({ outcome: "ended", executed: ["r/15"], events: [], paused: undefined });
});

test("a journal with numbered events continues with code that emits nothing", async () => {
  expect(await goOn(() => undefined)).toMatchObject({ outcome: "ended", executed: ["r/15"], events: [] });
});

test("a journal with numbered events continues with code that emits more, and only new events are emitted", async () => {
  const went = await goOn((run, place) => {
    run.emit({ type: `new at ${place}` });
    tell(run, before[place]);
    run.emit({ type: "told" });
  });
  const news = ["start", "one", "branch", "many"].flatMap((place) => [`new at ${place}`, "told"]);
  expect(went).toMatchObject({ outcome: "ended", executed: ["r/15"], events: news });
});

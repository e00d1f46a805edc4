import { expect, test } from "bun:test";
import type { Run } from "../../core/runs/run.ts";
import { executionOn } from "../../testing/durable/execution-on.ts";
import { emptyState, MemoryRunStore } from "../../testing/durable/memory-run-store.ts";
import type { JournalRow } from "./run-store.ts";

const no = { code: "task_failed", message: "No." } as const;
const step = (path: string, over: Partial<JournalRow> = {}): JournalRow => ({
  ...{ path, kind: "step", name: "s", state: "done", out: "1" },
  ...over,
});
const group = (path: string, kind: "all" | "race", over: Partial<JournalRow> = {}): JournalRow => ({
  ...{ path, kind, name: "2", state: "started" },
  ...over,
});

/** A store with this journal, and what a body that is executed on it does. */
async function replay(rows: readonly JournalRow[], execute: (run: Run) => Promise<unknown>) {
  const store = new MemoryRunStore(emptyState());
  for (const row of rows) store.state.journal.set(row.path, row);
  const execution = await executionOn(store, execute);
  const outcome = await execution.done;
  return { outcome, ...store.state };
}

const work = (run: Run) => run.step("s", async () => 1);

test.each(["all", "race"] as const)(
  "in a branch of a race that is over, what an unfinished %s would come to is neither recorded nor told",
  async (kind) => {
    const inner = { ...step("0/0/0/0/0"), ...(kind === "all" && { error: no }) };
    const rows = [group("0", "race", { state: "done", out: "1" }), group("0/0/0", kind), inner, step("0/1/0")];
    const reached: string[] = [];
    const { outcome, journal, events } = await replay(rows, async (run) =>
      run.race<unknown>([
        async (own) => {
          own.emit({ type: "told" });
          await own[kind]<unknown>([work, async () => null]).catch(() => undefined);
          if (!own.abortSignal.aborted) reached.push("behind it");
        },
        async (own) => {
          // The other has gone as far as it can by then.
          for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
          return work(own);
        },
      ]),
    );
    expect([outcome, events, reached]).toEqual(["ended", [], []]);
    expect(journal.get("0/0/0")?.state).toBe("started");
  },
);

test.each(["all", "race"] as const)(
  "what the losers of an %s had done before they were told is not missed when they stop earlier in the replay",
  async (kind) => {
    const decided = kind === "all" ? { out: "0", error: no } : { out: "0" };
    const rows = [
      group("0", kind, { state: "done", ...decided }),
      kind === "all" ? step("0/0/0", { error: no }) : step("0/0/0"),
      ...["0/1/0", "0/1/1", "0/1/2"].map((path) => step(path)),
    ];
    const { outcome, paused } = await replay(rows, async (run) => {
      const until = async (own: Run) => {
        for (let steps = 0; steps < 3; steps++) {
          await new Promise((resolve) => setImmediate(resolve));
          if (!own.abortSignal.aborted) await work(own);
        }
        return null;
      };
      return run[kind]<unknown>([work, until]).catch(({ code }) => code);
    });
    expect([outcome, paused]).toEqual(["ended", undefined]);
  },
);

test.each(["all", "race"] as const)(
  "an %s is recorded as it begins, so that code with other branches does not go on from there",
  async (kind) => {
    const store = new MemoryRunStore(emptyState());
    const waiting = (branches: number) => (run: Run) =>
      run[kind]<unknown>(Array.from({ length: branches }, (_, n) => (own: Run) => own.signal(`s${n}`)));
    expect(await (await executionOn(store, waiting(2))).done).toBe("parked");
    const again = new MemoryRunStore(store.state);
    expect([await (await executionOn(again, waiting(3))).done, again.state.paused?.code]).toEqual([
      "paused",
      "non_deterministic",
    ]);
  },
);

import { expect, test } from "bun:test";
import type { Engine, RunRecord } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { createFamilies } from "./family.ts";

/** A store of runs with these events, which counts what is read. */
function stored(runs: Record<string, RunEvent[]>, principals: Record<string, string> = {}) {
  const reads = { events: 0, records: 0 };
  const record = (id: string) =>
    ({ id, principal: principals[id] ?? "ann", lastEvent: runs[id]?.length ?? 0 }) as RunRecord;
  const engine: Pick<Engine, "get" | "events"> = {
    async get(id, principal) {
      reads.records++;
      return id in runs && record(id).principal === (principal ?? "ann") ? record(id) : undefined;
    },
    async events(runId, after = 0, upTo = 99) {
      const events = (runs[runId] ?? []).map((event, at) => ({ runId, seq: at + 1, at: 0, event }));
      const found = events.filter(({ seq }) => seq > after && seq <= upTo);
      reads.events += found.length;
      return found;
    },
  };
  return { ...createFamilies(engine), record, reads, runs };
}

const asked = (askId: string, url: string): RunEvent => ({
  ...{ type: "agent-asked", askId, agent: "swe", url, text: "", parts: [], hops: 1 },
});
const accepted = (askId: string, taskId: string): RunEvent => ({
  ...{ type: "agent-accepted", askId, agent: "swe", taskId, contextId: "c" },
});
const file = (sha256: string): RunEvent => ({ type: "artifact-added", parts: [{ type: "file", sha256 }] });
const ended: RunEvent = { type: "run-ended", status: "completed" };

test("of what was read before only what is new is read, and a run that is over is not looked up again", async () => {
  const at = stored({
    root: [asked("a", "http://one"), accepted("a", "child")],
    child: [asked("b", "http://two"), accepted("b", "grandchild"), ended],
    grandchild: [file("f"), ended],
  });
  expect(await at.asked(at.record("root"), "grandchild")).toEqual({ name: "swe", url: "http://two" });
  expect(await at.hasFile(at.record("root"), "f")).toBe(true);
  const before = { ...at.reads };
  at.runs.root?.push(asked("c", "http://three"), accepted("c", "far"));
  expect(await at.asked(at.record("root"), "far")).toEqual({ name: "swe", url: "http://three" });
  expect(await at.asked(at.record("root"), "grandchild")).toBeDefined();
  expect([await at.asked(at.record("root"), "b"), at.reads.events]).toEqual([undefined, before.events + 2]);
  // A task elsewhere is looked for once.
  expect(at.reads.records).toBe(before.records + 1);
});

test("what was deleted since is in no family, and another principal's run never", async () => {
  const at = stored(
    { root: [accepted("a", "child"), accepted("b", "bobs")], child: [file("f"), ended], bobs: [file("g"), ended] },
    { bobs: "bob" },
  );
  await at.of(at.record("bobs"));
  expect((await at.of(at.record("root"))).map(({ id }) => id)).toEqual(["root", "child"]);
  expect(await Promise.all(["f", "g"].map((one) => at.hasFile(at.record("root"), one)))).toEqual([true, false]);
  delete at.runs.child;
  expect((await at.of(at.record("root"))).map(({ id }) => id)).toEqual(["root"]);
  expect(await at.hasFile(at.record("root"), "f")).toBe(false);
});

import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, Log, RunRecord } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { until } from "../testing/durable/until.ts";
import { exportTraces } from "./export-traces.ts";
import type { Span } from "./run-spans.ts";

let folder: string;
let engine: Engine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "export-traces-"));
  engine = createEmbeddedEngine({ path: join(folder, "runs.db"), pollMs: 5 });
  engine.work([{ kind: "worker", execute: async (run) => called(run, "a") }]);
  engine.work([
    {
      kind: "waiter",
      async execute(run) {
        called(run, "before");
        await run.signal("go on");
        return called(run, "after");
      },
    },
  ]);
});
afterAll(async () => {
  await engine.close();
  await rm(folder, { recursive: true });
});

function called(run: { emit(event: RunEvent): void }, callId: string): null {
  run.emit({ type: "tool-ended", callId, name: callId, text: "", isError: false, milliseconds: 0 });
  return null;
}

async function started(kind: string): Promise<string> {
  const { run } = await engine.start({ kind, input: {}, principal: "me", contextId: "c" });
  return run.id;
}

async function ended(id: string): Promise<void> {
  await until(async () => (await engine.get(id))?.status === "completed");
}

/** What one exporter sends in its life, and what it says. */
function startExport(file: string, kinds: readonly string[]) {
  const spans: Span[] = [];
  const said: string[] = [];
  const state = { refuses: false, attempts: 0 };
  const log: Log = { warn: (_, message) => void said.push(message), error: (_, message) => void said.push(message) };
  const traces = exportTraces({
    ...{ engine, kinds: () => kinds, operation: "invoke_agent", share: 1, file: join(folder, file), log, everyMs: 5 },
    exporter: {
      async send(some) {
        state.attempts++;
        if (state.refuses) throw new Error("The collector is away.");
        spans.push(...some);
      },
      close: async () => undefined,
    },
  });
  const namesOf = (id: string) =>
    spans.filter(({ traceId }) => traceId === id.replaceAll("-", "")).map(({ name }) => name);
  return { spans, said, state, namesOf, close: traces.close };
}

const whole = ["execute_tool a", "invoke_agent worker"];

test("spans are sent once each while the exporter lives, those of other kinds never", async () => {
  const first = startExport("once.json", ["worker"]);
  const marker = await started("worker");
  await ended(marker);
  const other = await started("waiter");
  await until(async () => first.namesOf(marker).length === 2);
  const again = await started("worker");
  await until(async () => first.namesOf(again).length === 2);
  expect(first.namesOf(marker)).toEqual(whole);
  expect(first.namesOf(other)).toEqual([]);
  await first.close();
});

test("what ended while no exporter lived is sent by the next one", async () => {
  const first = startExport("next.json", ["worker"]);
  const seen = await started("worker");
  await until(async () => first.namesOf(seen).length === 2);
  await first.close();
  const missed = await started("worker");
  await ended(missed);
  const next = startExport("next.json", ["worker"]);
  await until(async () => next.namesOf(missed).length === 2);
  expect(next.namesOf(missed)).toEqual(whole);
  await next.close();
});

test("nothing is lost while the collector is away, and both its leaving and its return are said once", async () => {
  const one = startExport("away.json", ["worker", "waiter"]);
  const waiting = await started("waiter");
  await until(async () => one.namesOf(waiting).length === 1);
  one.state.refuses = true;
  const missed = await Promise.all(Array.from({ length: 5 }, () => started("worker")));
  await engine.deliver(waiting, "go on", null);
  await Promise.all([...missed, waiting].map(ended));
  await until(async () => one.state.attempts > 5);
  one.state.refuses = false;
  await until(async () => one.namesOf(waiting).includes("invoke_agent waiter"));
  for (const id of missed) expect(new Set(one.namesOf(id))).toEqual(new Set(whole));
  expect(new Set(one.namesOf(waiting))).toEqual(
    new Set(["execute_tool before", "execute_tool after", "invoke_agent waiter"]),
  );
  await until(async () => one.said.length === 2);
  await one.close();
});

test("a run that ends just before closing is sent by the closing", async () => {
  const one = startExport("closing.json", ["worker"]);
  const run = await started("worker");
  await ended(run);
  await one.close();
  expect(one.namesOf(run)).toEqual(whole);
});

/** A store whose runs have as many tool calls as events; what is written late has an early time. */
function storeOf() {
  const runs: RunRecord[] = [];
  const reads: string[] = [];
  const times = new Map<string, number[]>();
  const looks = { count: 0 };
  const store: Pick<Engine, "list" | "events"> = {
    async list({ updatedSince = 0, limit = 50, cursor }) {
      const from = Number(cursor ?? 0);
      looks.count++;
      const changed = runs.filter(({ updatedAt }) => updatedAt >= updatedSince);
      const newest = changed.toSorted((one, other) => other.updatedAt - one.updatedAt);
      const isMore = newest.length > from + limit;
      const page = newest.slice(from, from + limit);
      return { runs: page, total: newest.length, ...(isMore && { nextCursor: `${from + limit}` }) };
    },
    async events(runId, after = 0, last = 0) {
      reads.push(`${runId} ${after}`);
      const ats = times.get(runId) ?? [];
      const event = { type: "tool-ended", callId: "c", name: runId, text: "", isError: false, milliseconds: 0 };
      return ats.slice(after, last).map((at, n) => ({ runId, seq: after + n + 1, at, event }));
    },
  };
  /** The run has one more event, at this time. */
  const work = (id: string, updatedAt: number) => {
    const known = runs.findIndex((run) => run.id === id);
    const lastEvent = (runs[known]?.lastEvent ?? 0) + 1;
    times.set(id, [...(times.get(id) ?? []), updatedAt]);
    const run = { id, kind: "worker", input: {}, lastEvent, createdAt: 0, updatedAt, contextId: "c" } as RunRecord;
    runs.splice(known < 0 ? runs.length : known, 1, run);
  };
  return { store, work, reads, looks };
}

/**
 * What is sent of a store, one pass after the other; `ends` counts the exporters that were closed.
 */
function passesOver(store: Pick<Engine, "list" | "events">, file: string) {
  const sent: string[] = [];
  const ends = { count: 0 };
  const open = (send: (spans: readonly Span[]) => Promise<void>) =>
    exportTraces({
      ...{ engine: store, kinds: () => ["worker"], operation: "invoke_agent", share: 1, file: join(folder, file) },
      ...{
        log: { warn: () => undefined, error: () => undefined },
        everyMs: 2,
        exporter: { send, close: async () => void ends.count++ },
      },
    });
  return { sent, ends, open, traces: open(async (spans) => void sent.push(...spans.map(({ name }) => name))) };
}

test("it begins at the newest run there is, and tells what is written late with an early time", async () => {
  const { store, work, looks } = storeOf();
  work("old", 1_000_000);
  work("newest", 2_000_000);
  const { sent, traces } = passesOver(store, "begins.json");
  await until(async () => Bun.file(join(folder, "begins.json")).exists());
  work("next", 2_010_000);
  await until(async () => sent.includes("execute_tool next"));
  // Also after looks that found nothing new.
  const { count } = looks;
  await until(async () => looks.count > count + 3);
  work("late", 2_009_000);
  await until(async () => sent.includes("execute_tool late"));
  await traces.close();
  expect(sent).not.toContain("execute_tool old");
  const next = passesOver(store, "begins.json");
  await next.traces.close();
  expect(new Set(next.sent)).toEqual(new Set(["execute_tool next", "execute_tool late"]));
});

test("what was long done while no exporter lived is sent from where the last one stopped, and nothing before", async () => {
  const { store, work } = storeOf();
  work("sent", 1_000_000);
  // More events than are read at once, and more spans than are sent at once.
  for (let n = 0; n < 600; n++) work("early", 1_010_000);
  work("late", 2_000_000);
  await Bun.write(join(folder, "stopped.json"), JSON.stringify({ through: 1_004_000 }));
  const { sent, traces } = passesOver(store, "stopped.json");
  await traces.close();
  const early = Array(600).fill("execute_tool early");
  expect(sent.toSorted()).toEqual([...early, "execute_tool late"]);
  expect(await Bun.file(join(folder, "stopped.json")).json()).toEqual({ through: 2_000_000 });
});

test("what is done after the clock was set back is sent at once, and what was done before it once", async () => {
  const { store, work } = storeOf();
  const { sent, traces } = passesOver(store, "set-back.json");
  await until(async () => Bun.file(join(folder, "set-back.json")).exists());
  work("future", Date.now() + 3_600_000);
  await until(async () => sent.includes("execute_tool future"));
  work("now", Date.now());
  await until(async () => sent.includes("execute_tool now"));
  await traces.close();
  expect(sent.toSorted()).toEqual(["execute_tool future", "execute_tool now"]);
  // The mark that a server left which was away while the clock was set back.
  await Bun.write(join(folder, "set-back.json"), JSON.stringify({ through: Date.now() + 3_600_000 }));
  const next = passesOver(store, "set-back.json");
  await until(async () => (await Bun.file(join(folder, "set-back.json")).json()).through <= Date.now());
  work("after", Date.now());
  await until(async () => next.sent.includes("execute_tool after"));
  await next.traces.close();
});

test("of a run that goes on, what was sent long before is not sent again after a restart", async () => {
  const { store, work } = storeOf();
  const { sent, traces } = passesOver(store, "goes-on.json");
  await until(async () => Bun.file(join(folder, "goes-on.json")).exists());
  work("long", 1_000_000);
  work("other", 1_005_000);
  await until(async () => new Set(sent).size === 2);
  await traces.close();
  work("long", 1_010_000);
  const next = passesOver(store, "goes-on.json");
  await next.traces.close();
  expect(next.sent.filter((name) => name.endsWith("long"))).toEqual(["execute_tool long"]);
});

test("runs are read page by page, and of more than a thousand the longest unchanged are read anew", async () => {
  const { store, work, reads } = storeOf();
  const { sent, traces } = passesOver(store, "pages.json");
  await until(async () => Bun.file(join(folder, "pages.json")).exists());
  for (let n = 0; n < 1_001; n++) work(`r${n}`, 10_000 - n);
  await until(async () => new Set(sent).size === 1_001);
  reads.length = 0;
  work("r0", 20_000);
  work("r1000", 20_000);
  await until(async () => sent.filter((name) => /r0$|r1000$/.test(name)).length >= 4);
  await traces.close();
  expect(reads.slice(0, 2).toSorted()).toEqual(["r0 0", "r1000 1"]);
});

test("what the collector did not take before the end is sent after the next start", async () => {
  const { store, work } = storeOf();
  work("one", 1);
  const { traces, open } = passesOver(store, "refused.json");
  await until(async () => Bun.file(join(folder, "refused.json")).exists());
  await traces.close();
  work("two", 5_000);
  work("late", 10_000);
  let tries = 0;
  const refusing = open(async () => {
    tries++;
    throw new Error("It is away.");
  });
  await until(async () => tries > 0);
  await refusing.close();
  const next = passesOver(store, "refused.json");
  await next.traces.close();
  expect(next.sent).toEqual(expect.arrayContaining(["execute_tool two", "execute_tool late"]));
});

test("closing waits two seconds for a collector that hangs, and no longer", async () => {
  const { store, work } = storeOf();
  work("one", 1);
  const { traces, open } = passesOver(store, "hangs.json");
  await until(async () => Bun.file(join(folder, "hangs.json")).exists());
  await traces.close();
  work("one", 5_000);
  const hung = Promise.withResolvers<void>();
  const hanging = open(() => {
    hung.resolve();
    return new Promise(() => undefined);
  });
  await hung.promise;
  using waiting = spyOn(globalThis, "setTimeout");
  await hanging.close();
  expect(waiting.mock.calls.map(([, ms]) => ms)).toContain(2_000);
});

test("after closing nobody looks into the journal any more, also if a pass was under way, and the exporter is closed", async () => {
  const { store, work, looks } = storeOf();
  work("one", 1);
  const { ends, traces, open } = passesOver(store, "closed.json");
  await until(async () => Bun.file(join(folder, "closed.json")).exists());
  await traces.close();
  const before = looks.count;
  await Bun.sleep(20);
  expect(looks.count).toBe(before);
  work("two", 5_000);
  const [sending, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = open(async () => {
    sending.resolve();
    await goOn.promise;
  });
  await sending.promise;
  const closing = slow.close();
  goOn.resolve();
  await closing;
  const { count } = looks;
  await Bun.sleep(20);
  expect([looks.count, ends.count]).toEqual([count, 2]);
});

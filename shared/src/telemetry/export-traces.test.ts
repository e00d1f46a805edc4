import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Engine, Log } from "../core/engine.ts";
import type { RunEvent } from "../core/run.ts";
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

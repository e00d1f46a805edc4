import { afterAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/config.ts";
import { silentLog } from "../core/runs/engine.ts";
import { currentTrace, readTrace, type Trace } from "../core/trace.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { until } from "../testing/durable/until.ts";
import { openTelemetry } from "./open-telemetry.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-telemetry-"));
afterAll(() => rm(folder, { recursive: true }));

type Sent = { readonly path: string; readonly key: string | null; readonly text: string };
function startCollector() {
  const sent: Sent[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      sent.push({ path: new URL(request.url).pathname, key: request.headers.get("x-key"), text: await request.text() });
      return Response.json({});
    },
  });
  return { url: server.url.origin, sent, [Symbol.asyncDispose]: () => server.stop(true) };
}

const caller = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };

/** A server of two kinds of runs, one of which sees to something beside tasks. */
async function traced(env: Record<string, string>, sent: readonly Sent[] = []) {
  const home = await mkdtemp(join(folder, "home-"));
  const config = await loadConfig({ cwd: home, env: { MANYHANDS_HOME: home, ...env } });
  const stored = createEmbeddedEngine({ path: join(home, "runs.db"), pollMs: 5 });
  const options: unknown[] = [];
  /** With what the store was closed, and what had been sent by then. */
  const closings: unknown[] = [];
  const watched = {
    ...stored,
    work(...given: Parameters<typeof stored.work>) {
      options.push(given[1]);
      stored.work(...given);
    },
    close(given?: Parameters<typeof stored.close>[0]) {
      closings.push(given, sent.map(({ text }) => text).join(""));
      return stored.close(given);
    },
  };
  const server = { name: "worker", operation: "invoke_agent", log: silentLog } as const;
  const { engine, metrics } = await openTelemetry(watched, config, server);
  const seen = new Map<string, Trace | undefined>();
  const kinds = ["worker", "push/worker"];
  engine.work(
    kinds.map((kind) => ({
      kind,
      async execute({ id, emit }) {
        emit({ type: "tool-ended", callId: "c", name: kind, text: "", isError: false, milliseconds: 0 });
        seen.set(id, currentTrace());
        return null;
      },
    })),
    { concurrency: 7 },
  );
  const run = async (kind: string, input: object = {}) => {
    const { run } = await engine.start({ kind, input: input as never, principal: "ann", contextId: "c" });
    await until(async () => (await engine.get(run.id))?.status === "completed");
    return { id: run.id, trace: seen.get(run.id) };
  };
  return { home, engine, metrics, run, options, closings };
}

test("the runs of tasks are counted, and what sees to something beside them is not", async () => {
  const { engine, home, metrics, run, options } = await traced({});
  expect((await run("worker")).trace).toBeUndefined();
  await run("push/worker");
  const counts = metrics().find(({ name }) => name === "manyhands_executions_total");
  expect(counts?.samples.map(({ labels, value }) => [labels?.kind, value])).toEqual([["worker", 1]]);
  expect(options).toEqual([{ concurrency: 7 }]);
  await engine.close();
  expect(await readdir(home)).not.toContain("telemetry");
});

test("a run belongs to its caller's trace, or to one of its own, and closing sends what was not sent yet", async () => {
  await using collector = startCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: "x-key=let%20me" };
  const { engine, home, run, closings } = await traced(env, collector.sent);
  // Sending begins at the newest run there is when it is first used.
  await until(async () => (await readdir(home)).includes("telemetry"));
  const called = await run("worker", { trace: caller });
  const own = await run("worker");
  const beside = await run("push/worker");
  expect(readTrace(called.trace as Trace).traceId).toBe(readTrace(caller).traceId);
  expect(readTrace(own.trace as Trace)).toMatchObject({ traceId: own.id.replaceAll("-", ""), isSampled: true });
  expect(beside.trace).toBeUndefined();
  await engine.close({ graceMs: 7 });
  // The runs are read from the store until the last is sent.
  expect(closings).toEqual([{ graceMs: 7 }, expect.stringContaining(own.id.replaceAll("-", ""))]);
  const all = collector.sent.map(({ text }) => text).join("");
  expect(collector.sent[0]).toMatchObject({ path: "/v1/traces", key: "let me" });
  for (const part of [readTrace(caller).traceId, own.id.replaceAll("-", ""), "invoke_agent worker"])
    expect(all).toContain(part);
  expect(all).not.toContain("push/worker");
  expect(await readdir(join(home, "telemetry"))).toEqual(["worker.json"]);
  await expect(engine.get(own.id)).rejects.toThrow();
});

test("where no run is sampled, one without a caller's trace says so to whom it asks and is not sent", async () => {
  await using collector = startCollector();
  const { engine, run } = await traced({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    MANYHANDS_TELEMETRY_SAMPLED: "0",
  });
  const own = await run("worker");
  expect(readTrace(own.trace as Trace).isSampled).toBe(false);
  await engine.close();
  expect(collector.sent).toEqual([]);
});

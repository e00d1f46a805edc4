import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import * as z from "zod";
import type { Engine, Log, RunRecord } from "../core/runs/engine.ts";
import { readJson, writeJson } from "../machine/workspace/own-files/json-file.ts";
import type { SpanExporter } from "./otlp-exporter.ts";
import { type Operation, type RunSpans, runSpans, type Span } from "./run-spans.ts";

/** What the spans are made of and where they go. */
export type TracesDeps = {
  readonly engine: Pick<Engine, "list" | "events">;
  /** The kinds of runs this server executes. */
  kinds(): readonly string[];
  readonly operation: Operation;
  /** The share of runs without a caller's trace to report, 0 to 1. */
  readonly share: number;
  readonly exporter: SpanExporter;
  /** The file that remembers how far the spans have been sent. */
  readonly file: string;
  readonly log: Log;
  /** Milliseconds between two looks at the journal; left out: 1,000. */
  readonly everyMs?: number;
};

/** Sends spans until it is closed, which sends what is there. */
export type TraceExport = { close(): Promise<void> };

/** A write whose time is older than the newest one seen may still be on its way. Milliseconds. */
const marginMs = 2_000;
const eventsAtOnce = 512;
const spansAtOnce = 512;
const runsAtOnce = 100;
/** A run that is not remembered is read from its first event when it goes on. */
const maxReadings = 1_000;
/**
 * How long closing waits for the collector; what is not sent by then is sent after the next start.
 */
const closingMs = 2_000;

const markSchema = z.object({ through: z.number() });

/** A run that is being read: its spans, undefined if it is not sampled, and how far. */
type Reading = { readonly spans: RunSpans | undefined; seq: number };

/**
 * Reports what the journals record as spans. It reads the journals themselves and remembers in a
 * file up to when all of it was sent, so nothing is lost while the collector is away or when this
 * process is killed: what may not have been sent is made again, with the same ids. It begins at
 * the newest run there is when it is first used.
 */
export function exportTraces(deps: TracesDeps): TraceExport {
  const { exporter, log, everyMs = 1_000 } = deps;
  const readings = new Map<string, Reading>();
  let through: number | undefined;
  let newsAt = performance.now();
  let isFailing = false;
  let closed = false;

  const pass = async () => {
    through ??= (await readJson(deps.file, markSchema))?.through ?? (await firstMark(deps));
    const now = Date.now();
    if (through > now) {
      // The clock was set back: what happens now is not to wait until it is the time of then again.
      through = now;
      newsAt = performance.now();
      await writeJson(deps.file, { through });
    }
    const isSettled = performance.now() - newsAt > marginMs;
    const since = isSettled ? through : through - marginMs;
    let last = through;
    let sent = 0;
    const batch: Span[] = [];
    const send = async (least: number) => {
      while (batch.length > least) {
        const some = batch.splice(0, spansAtOnce);
        await exporter.send(some);
        sent += some.length;
      }
    };
    for await (const run of changedSince(since, deps)) {
      if (run.updatedAt <= now) last = Math.max(last, run.updatedAt);
      for await (const span of newSpans(run, since, readings, deps)) {
        batch.push(span);
        await send(spansAtOnce);
      }
    }
    await send(0);
    forgetOldest(readings);
    if (sent > 0 || last > through) newsAt = performance.now();
    if (last > through) await writeJson(deps.file, { through: last });
    through = last;
  };

  const attempt = async () => {
    try {
      await pass();
      if (isFailing) log.warn({}, "The collector of traces takes spans again.");
      isFailing = false;
    } catch (error) {
      // The journals have it all, so nothing is kept here: it is read again.
      readings.clear();
      newsAt = performance.now();
      if (!isFailing)
        log.warn({ err: error }, "Traces could not be sent; they are sent once the collector takes them.");
      isFailing = true;
    }
  };

  let current = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = () => {
    if (closed) return;
    timer = setTimeout(() => {
      current = attempt().then(schedule);
    }, everyMs);
    timer.unref();
  };
  schedule();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await Promise.race([current.then(() => (isFailing ? undefined : attempt())), after(closingMs)]);
      void exporter.close().catch(() => undefined);
    },
  };
}

/** Begins at the newest run there is, which is remembered: a crash does not begin it anew. */
async function firstMark({ engine, kinds, file }: TracesDeps): Promise<number> {
  const { runs } = await engine.list({ kinds: kinds(), limit: 1 });
  const through = runs[0]?.updatedAt ?? 0;
  await mkdir(dirname(file), { recursive: true });
  await writeJson(file, { through });
  return through;
}

async function* changedSince(updatedSince: number, { engine, kinds }: TracesDeps): AsyncIterable<RunRecord> {
  let cursor: string | undefined;
  do {
    const page = await engine.list({ kinds: kinds(), updatedSince, limit: runsAtOnce, ...(cursor && { cursor }) });
    yield* page.runs;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The spans that this run's events have ended since they were last read, or since `since`. */
async function* newSpans(
  run: RunRecord,
  since: number,
  readings: Map<string, Reading>,
  { engine, operation, share }: TracesDeps,
): AsyncIterable<Span> {
  const known = readings.get(run.id);
  const reading: Reading = known ?? { spans: runSpans(run, operation, share), seq: 0 };
  readings.delete(run.id);
  readings.set(run.id, reading);
  if (reading.spans === undefined) return;
  while (reading.seq < run.lastEvent) {
    const events = await engine.events(run.id, reading.seq, reading.seq + eventsAtOnce);
    for (const stored of events) {
      const spans = reading.spans.take(stored);
      if (known !== undefined || stored.at >= since) yield* spans;
    }
    const last = events.at(-1)?.seq;
    if (last === undefined) return;
    reading.seq = last;
  }
}

/** Those that have not changed for longest. */
function forgetOldest(readings: Map<string, Reading>): void {
  for (const id of readings.keys()) {
    if (readings.size <= maxReadings) return;
    readings.delete(id);
  }
}

function after(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, milliseconds).unref();
  return promise;
}

import type { RunEvent } from "../../../core/runs/run.ts";
import {
  type Ending,
  type JournalRow,
  LeaseLost,
  type RecordedError,
  type RunStore,
  type WaitAnswer,
  type WaitRequest,
} from "../../replay/run-store.ts";
import type { Acceptance } from "../acceptance.ts";
import { storageFailure } from "../disk/storage-error.ts";
import type { Moment, RunClock } from "../run-clock.ts";
import type { Lease } from "../tables/known-runs.ts";
import type { Tables } from "../tables/tables.ts";
import type { Writer } from "../writer.ts";
import { endRun } from "./endings.ts";

/** What the run store of one claim needs. */
export type LeasedRunOptions = {
  readonly lease: Lease;
  /** Given for a run that is executed before it is stored. */
  readonly acceptance?: Acceptance | undefined;
  readonly writer: Writer;
  readonly clock: RunClock;
  /** Called after a commit that appended events, with the last event's number. */
  readonly onEvents: (seq: number) => void;
};

/**
 * The run store of one claim: every transaction first checks that the claim still holds. After a
 * write that can never succeed, nothing is written but the resulting pause, so that a journal has
 * no gaps.
 */
export function leasedRun(options: LeasedRunOptions): RunStore {
  const { lease, acceptance, writer, clock } = options;
  let fault: { readonly error: unknown } | undefined;

  async function write<T>(
    entry: (tables: Tables, now: Moment, canceled: boolean) => { value: T; seq: number },
    how?: { readonly patient?: boolean; readonly afterFault?: boolean },
  ): Promise<T> {
    acceptance?.close();
    const { value, seq } = await writer.write((tables) => {
      const held = tables.states.held(lease);
      if (held === null) throw new LeaseLost("Another worker owns the run.");
      if (fault !== undefined && how?.afterFault !== true) throw fault.error;
      try {
        return entry(tables, clock.moment(), held.cancel_requested === 1);
      } catch (error) {
        if (storageFailure(error) === undefined) fault ??= { error };
        throw error;
      }
    }, how);
    if (seq > 0) options.onEvents(seq);
    return value;
  }

  return {
    load: () => writer.read((tables) => tables.journal.ofRun(lease.n), { early: true }),
    async leaseState() {
      // Nobody else can know of a run that is still being accepted.
      if (acceptance !== undefined && acceptance.outcome === undefined) return "held";
      const held = await writer.shared.read((tables) => tables.states.held(lease));
      if (held === null) return "lost";
      return held.cancel_requested === 1 ? "canceled" : "held";
    },
    record: (row, events) =>
      acceptance?.record(row, events ?? []) ??
      write((tables, now) => ({ value: undefined, seq: record(tables, lease.n, row, events ?? [], now) }), {
        // The run waits for neither: they only have to be written before later writes.
        patient: row.kind === "emit" || row.kind === "poll",
      }),
    hurry: () => writer.hurry(),
    hasSignal: (name) => writer.read((tables) => tables.signals.isFree(lease.n, name), { early: true }),
    wait: (request) => write((tables, now, canceled) => wait(tables, lease.n, request, now, canceled)),
    takeAll: (row) =>
      write((tables) => {
        const out = `[${tables.signals.takeAll(lease.n, row.name, row.path).join()}]`;
        tables.journal.put(lease.n, { ...row, out });
        return { value: out, seq: 0 };
      }),
    giveBack: (path) =>
      write((tables) => {
        tables.signals.giveBack(lease.n, path);
        tables.journal.reopen(lease.n, path);
        return { value: undefined, seq: 0 };
      }),
    end: (ending: Ending) =>
      acceptance?.end(ending) ??
      write((tables, now, canceled) => ({
        value: undefined,
        seq: endRun(tables, lease.n, canceled ? { status: "canceled" } : ending, now),
      })),
    pause: (error: RecordedError) =>
      write(
        (tables, now, canceled) => {
          if (canceled) return { value: undefined, seq: endRun(tables, lease.n, { status: "canceled" }, now) };
          const seq = tables.events.append(lease.n, [{ type: "run-paused", error }], now);
          tables.states.pause(lease.n, error, now);
          return { value: undefined, seq };
        },
        { afterFault: true },
      ),
    release: () =>
      write((tables, now) => {
        tables.states.queue(lease.n, now);
        return { value: undefined, seq: 0 };
      }),
  };
}

function record(tables: Tables, n: number, row: JournalRow, events: readonly RunEvent[], now: Moment): number {
  tables.journal.put(n, row);
  return tables.events.append(n, events, now);
}

function wait(
  tables: Tables,
  n: number,
  request: WaitRequest,
  now: Moment,
  canceled: boolean,
): { value: WaitAnswer; seq: number } {
  let seq = 0;
  for (const { row, events } of request.begin) seq = record(tables, n, row, events, now) || seq;
  for (const { path, name } of request.wanted()) {
    const payload = tables.signals.takeFirst(n, name, path);
    if (payload === undefined) continue;
    tables.journal.put(n, { path, kind: "signal", name, state: "done", out: payload });
    return { value: { taken: { path, payload }, parked: false, canceled }, seq };
  }
  const parked = request.park !== undefined && !canceled;
  if (parked) tables.states.park(n, request.park, now);
  return { value: { parked, canceled }, seq };
}

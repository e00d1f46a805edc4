import { sleep } from "manyhands/internal/core/async/sleep";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { SseFrame } from "manyhands/internal/http/sse";
import type { RunView } from "manyhands/internal/runs/run-view";
import type { Runs } from "manyhands/internal/runs/runs";
import type { Registry } from "../registry/registry.ts";

/** A run that has changed, as far as a list of runs has to know. */
export type ChangedRun = Pick<RunView, "id" | "contextId" | "status" | "lastEvent">;

/** What changed since the frame before. `more` if more runs changed than are listed. */
export type Change = { readonly runs: readonly ChangedRun[]; readonly more?: true; readonly agents?: true };

/** What the changes of a principal are read from. */
export type ChangeDeps = {
  readonly engine: Pick<Engine, "changes">;
  readonly runs: Pick<Runs, "list" | "view">;
  readonly registry: Pick<Registry, "list">;
};

/** Milliseconds between two frames, at least, and between two looks at the agents. */
export type ChangePace = { readonly gapMs: number; readonly agentsEveryMs: number };

/** Runs that one frame lists at most. */
const listedAtOnce = 100;

/**
 * Runs whose change is seen this many milliseconds late are told nevertheless: commits overtake
 * each other.
 */
const overlapMs = 5_000;

/**
 * What changes of a principal's runs and of the agents, as frames: the first, without content, as
 * soon as every later change is told. Silent while nothing changes; ends when `signal` aborts.
 */
export async function* changeFrames(
  deps: ChangeDeps,
  principal: string,
  { gapMs, agentsEveryMs, signal }: ChangePace & { readonly signal: AbortSignal },
): AsyncGenerator<readonly SseFrame[], void, undefined> {
  const changes = deps.engine.changes(signal)[Symbol.asyncIterator]();
  let news = nextNews(changes, signal);
  const look = createLook(deps, principal);
  let agents = agentsNow(deps.registry);
  try {
    await look();
    yield [frameOf({ runs: [] })];
    for (let sentAt = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
      await pause(agentsEveryMs, news.arrived);
      if (signal.aborted) return;
      const isNews = news.arrived.aborted;
      if (isNews && (await news.next).done === true) return;
      await pause(sentAt + gapMs - performance.now(), signal);
      if (isNews) news = nextNews(changes, signal);
      const found = isNews ? await look() : { runs: [] };
      const before = agents;
      agents = agentsNow(deps.registry);
      if (found.runs.length === 0 && agents === before) continue;
      sentAt = performance.now();
      yield [frameOf({ ...found, ...(agents !== before && { agents: true }) })];
    }
  } finally {
    await changes.return?.();
  }
}

/**
 * The next news, and a signal that ends every pause until then: a race with it in each pause would
 * leave something behind at the news, which may take days.
 */
function nextNews(changes: AsyncIterator<void>, signal: AbortSignal) {
  const heard = new AbortController();
  const next = changes.next();
  const hear = () => heard.abort();
  next.then(hear, hear);
  return { next, arrived: AbortSignal.any([signal, heard.signal]) };
}

function frameOf(change: Change): SseFrame {
  return { data: change };
}

/** Finds the runs that changed since it was called last; the first call only remembers. */
function createLook({ runs }: Pick<ChangeDeps, "runs">, principal: string): () => Promise<Change> {
  let seen: ReadonlyMap<string, string> | undefined;
  let newest = 0;
  return async () => {
    // A clock that was set back must not hide what happens until it is the time of then again.
    const since = seen === undefined ? {} : { updatedSince: Math.min(newest, Date.now()) - overlapMs };
    const page = await runs.list({ ...since, limit: listedAtOnce, countAtMost: 0 }, principal);
    const stateOf = (run: (typeof page.runs)[number]) => `${run.lastEvent} ${run.status}`;
    const before = seen;
    const changed = before === undefined ? [] : page.runs.filter((run) => before.get(run.id) !== stateOf(run));
    seen = new Map(page.runs.map((run) => [run.id, stateOf(run)]));
    newest = page.runs[0]?.updatedAt ?? newest;
    const views = await Promise.all(changed.map((run) => runs.view(run)));
    const more = before !== undefined && page.nextCursor !== undefined;
    return {
      runs: views.map(({ id, contextId, status, lastEvent }) => ({ id, contextId, status, lastEvent })),
      ...(more && { more }),
    };
  };
}

/** The state of all agents as one text; when each was last looked at is not part of it. */
function agentsNow(registry: ChangeDeps["registry"]): string {
  const states = registry.list().map(({ name, url, health, reason, breaker, changes }) => {
    return [name, url, health, reason ?? "", breaker, changes.length].join(" ");
  });
  return states.join("\n");
}

/** Resolves after a time, or at once when `signal` aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<undefined> {
  return sleep(Math.max(0, milliseconds), signal).then(
    () => undefined,
    () => undefined,
  );
}

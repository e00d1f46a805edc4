import type { PushInput } from "manyhands/internal/a2a/push/push-run";
import type { Refusal } from "manyhands/internal/a2a/push/webhooks";
import { mayName, type NotifyTarget } from "manyhands/internal/config/triggers/trigger-config";
import { AppError } from "manyhands/internal/core/errors";
import { type Engine, type Log, terminalStatuses } from "manyhands/internal/core/runs/engine";
import type { Run, RunDefinition } from "manyhands/internal/core/runs/run";
import type { Runs } from "manyhands/internal/runs/runs";
import { newsOf } from "./run-news.ts";
import { type SendDeps, sendNews } from "./send-news.ts";

/** The kind of the runs that tell a target of a run. No flow and no agent has such a name. */
export const notifyKind = "gateway/notify";

/** The run to tell of and the target, in the form of every delivery. */
export type NotifyInput = Omit<PushInput, "config"> & { readonly config: { readonly url: string } };

/** What stands for the address of a target wherever a delivery is shown. */
export const targetScheme = "notify:";

/** Times in milliseconds. */
export type NotifyBounds = {
  /** How long the run stays in memory while there is nothing to tell. */
  readonly quietMs: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** How long a target is tried that takes nothing. */
  readonly patienceMs: number;
};

/** What telling needs. */
export type NotifyDeps = SendDeps & {
  readonly engine: Pick<Engine, "get" | "events" | "follow" | "watch">;
  readonly runs: Pick<Runs, "view">;
  readonly targets: readonly NotifyTarget[];
  readonly publicUrl: string;
  readonly log: Log;
  readonly bounds?: Partial<NotifyBounds>;
};

const defaultBounds: NotifyBounds = {
  quietMs: 30_000,
  firstPauseMs: 1_000,
  longestPauseMs: 10 * 60_000,
  patienceMs: 24 * 3_600_000,
};

/** Questions of one run that are told. */
const maxQuestions = 20;

/** How far it is: the last question that was told. */
type Told = {
  readonly after: number;
  readonly isOver: boolean;
  readonly asked?: true;
  readonly refusal?: Refusal;
  readonly waits?: true;
};

/**
 * Tells one target that a run asks something and that it has ended, at least once, even if
 * processes are killed. It gives up a target that takes nothing for a day or refuses for good, and
 * fails with the reason. Execute it in a dedicated pool, since it lasts as long as the run.
 */
export function notifyRun(deps: NotifyDeps): RunDefinition {
  const bounds = { ...defaultBounds, ...deps.bounds };
  return {
    kind: notifyKind,
    async execute(run, raw) {
      const input = raw as NotifyInput;
      let { after } = input;
      let questions = 0;
      for (let pauseMs = bounds.firstPauseMs, waitedMs = 0; ; ) {
        const told: Told = await run.step("tell", ({ signal }) =>
          tell(run, input, { after, questions }, { ...deps, bounds, signal }),
        );
        if (told.isOver) return null;
        if (told.asked) questions++;
        after = told.after;
        if (told.waits) await run.signal(eventsOf(input.taskId));
        if (told.refusal === undefined) {
          [pauseMs, waitedMs] = [bounds.firstPauseMs, 0];
          continue;
        }
        if (told.refusal.final || waitedMs >= bounds.patienceMs) await giveUp(run, input, told.refusal, deps);
        await run.sleep(pauseMs);
        waitedMs += pauseMs;
        pauseMs = Math.min(pauseMs * 2, bounds.longestPauseMs);
      }
    },
  };
}

type Telling = NotifyDeps & { readonly bounds: NotifyBounds; readonly signal: AbortSignal };

/** Waits a while for something to tell and tells it, or asks to be woken. */
async function tell(
  { id, principal }: Run,
  { taskId, config }: NotifyInput,
  { after, questions }: { readonly after: number; readonly questions: number },
  { engine, runs, targets, publicUrl, bounds, signal, ...deps }: Telling,
): Promise<Told> {
  const quiet = AbortSignal.any([signal, AbortSignal.timeout(bounds.quietMs)]);
  for (let from = after; ; ) {
    const run = await engine.get(taskId);
    if (run === undefined) return { after, isOver: true };
    const hasEnded = terminalStatuses.includes(run.status);
    const asked = hasEnded || questions >= maxQuestions ? undefined : await lastQuestion(engine, taskId, after);
    const news = hasEnded || asked !== undefined ? newsOf(await runs.view(run), publicUrl) : undefined;
    if (news !== undefined) {
      const target = targets.find((one) => mayName(one, config.url.slice(targetScheme.length), principal));
      if (target === undefined)
        return { after, isOver: false, refusal: { reason: "the settings do not name it any more", final: true } };
      const refusal = await sendNews(target, news, `${id}-${asked ?? run.lastEvent}`, deps, signal);
      if (refusal !== undefined) return { after, isOver: false, refusal };
      return { after: asked ?? after, isOver: hasEnded, ...(asked !== undefined && { asked: true }) };
    }
    const last = await nextTurn(engine, taskId, Math.max(from, run.lastEvent), quiet);
    signal.throwIfAborted();
    if (last === undefined) {
      await engine.watch(taskId, { after: Math.max(from, run.lastEvent), watcher: id, signal: eventsOf(taskId) });
      return { after, isOver: false, waits: true };
    }
    from = last;
  }
}

async function lastQuestion(
  engine: Pick<Engine, "events">,
  taskId: string,
  after: number,
): Promise<number | undefined> {
  return (await engine.events(taskId, after)).findLast(({ event }) => event.type === "question-asked")?.seq;
}

/**
 * The place of the next event that asks or ends; undefined if there is none before `quiet` aborts.
 */
async function nextTurn(
  engine: Pick<Engine, "follow">,
  taskId: string,
  after: number,
  quiet: AbortSignal,
): Promise<number | undefined> {
  for await (const item of engine.follow(taskId, { after, signal: quiet }))
    if (item.kind === "event" && (item.event.type === "run-ended" || item.event.type === "question-asked"))
      return item.seq;
  return undefined;
}

/** The signal that the run it tells of has events. */
function eventsOf(taskId: string): string {
  return `events of ${taskId}`;
}

async function giveUp(run: Run, { taskId, config }: NotifyInput, { reason, final }: Refusal, { log }: NotifyDeps) {
  await run.step("give up", async () => {
    log.warn({ taskId, target: config.url, reason }, "A target of notifications was given up.");
    return null;
  });
  throw new AppError(final ? "rejected" : "unavailable", `${config.url} was not told of ${taskId}: ${reason}`);
}

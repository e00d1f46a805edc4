import { AppError } from "../../core/errors.ts";
import { type Engine, type Log, silentLog } from "../../core/runs/engine.ts";
import type { Run, RunDefinition } from "../../core/runs/run.ts";
import { applyEvent, emptyProjection, type TaskProjection } from "../../runs/projection.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import type { HomeKeys } from "../signing/home-keys.ts";
import { eventNotification, type Notification, signedNotification, taskNotification } from "./notification.ts";
import type { PushConfig } from "./push-config.ts";
import type { Refusal, Webhooks } from "./webhooks.ts";

/** The input of a run that notifies a receiver: which task, and from where in its journal. */
export type PushInput = {
  readonly taskId: string;
  readonly config: PushConfig;
  readonly after: number;
  /**
   * Whether to send the current task first, for a receiver that registered after its last event.
   */
  readonly snapshot: boolean;
};

/** Times in milliseconds. */
export type PushBounds = {
  /** How long a receiver's run stays in memory while its task has no events. */
  readonly quietMs: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** How long to retry a receiver that accepts nothing. */
  readonly patienceMs: number;
  /** How long to keep a receiver after its task ended. */
  readonly keptMs: number;
};

/** What notifying receivers needs of the server. */
export type PushDeps = {
  /** The kind of the runs to report on. */
  readonly kind: string;
  readonly engine: Pick<Engine, "get" | "events" | "follow" | "watch">;
  readonly webhooks: Webhooks;
  /** Sign each notification; unsigned if omitted. */
  readonly keys?: HomeKeys;
  /** This agent's public address; file parts link to it. */
  readonly publicUrl: string;
  readonly log?: Log;
  readonly bounds?: Partial<PushBounds>;
};

const defaultBounds: PushBounds = {
  quietMs: 30_000,
  firstPauseMs: 1_000,
  longestPauseMs: 10 * 60_000,
  patienceMs: 24 * 3_600_000,
  keptMs: 7 * 24 * 3_600_000,
};

/**
 * The event of a receiver that is given up, with the place up to which it was told, and `hasTask`
 * if it took the task as it was when the receiver registered.
 */
export const gaveUp = "receiver-given-up";

/** Notifications per recorded position: up to this many are resent after a crash. */
const maxUnrecorded = 20;

/** The kind of the runs that notify the receivers of tasks of `kind`. */
export function pushKind(kind: string): string {
  return `${kind}/push`;
}

/**
 * How far a receiver has been notified. `hasTask` says that it took the task as it is. If it
 * `waits`, a signal comes with the task's next event. Journals of earlier versions have neither.
 */
type Notified = {
  readonly after: number;
  readonly isOver: boolean;
  readonly refusal?: Refusal;
  readonly hasTask?: true;
  readonly waits?: true;
};

/**
 * Notifies one receiver of every event in one task's journal, in order and at least once, even if
 * processes are killed. The journal is the outbox; this run stores only the receiver's position,
 * and waits without a body while the task has no events. It gives up a receiver that accepts
 * nothing for a day or permanently refuses, and fails with the reason. Execute it in a dedicated
 * pool (`dedicatedPool`), since it lasts as long as the task.
 */
export function pushRun(deps: PushDeps): RunDefinition {
  const bounds = { ...defaultBounds, ...deps.bounds };
  return {
    kind: pushKind(deps.kind),
    async execute(run, raw) {
      const input = raw as PushInput;
      let { after, snapshot } = input;
      const known: Known = { projection: emptyProjection };
      for (let pauseMs = bounds.firstPauseMs, waitedMs = 0; ; ) {
        const told: Notified = await run.step("tell", ({ signal }) =>
          tell(run.id, { ...input, snapshot }, after, { ...deps, known, bounds }, signal),
        );
        if (told.isOver) break;
        if (told.refusal === undefined || told.hasTask || told.after > after)
          [pauseMs, waitedMs] = [bounds.firstPauseMs, 0];
        after = told.after;
        if (told.hasTask || told.waits) snapshot = false;
        if (told.waits) await run.signal(eventsOf(input.taskId));
        if (told.refusal === undefined) continue;
        if (told.refusal.final || waitedMs >= bounds.patienceMs)
          await giveUp(run, { ...input, after, hasTask: input.snapshot && !snapshot }, told.refusal, deps);
        await run.sleep(pauseMs);
        waitedMs += pauseMs;
        pauseMs = Math.min(pauseMs * 2, bounds.longestPauseMs);
      }
      await run.sleep(bounds.keptMs);
      return null;
    },
  };
}

/** The part of the task this process has read, so that it reads each event once. */
type Known = { projection: TaskProjection };

/** The signal that a watched task has events. */
function eventsOf(taskId: string): string {
  return `events of ${taskId}`;
}

/** Sends the existing events and those that follow while the task is not quiet for long. */
async function tell(
  runId: string,
  { taskId, config, snapshot, after: first }: PushInput,
  from: number,
  { engine, known, bounds, ...deps }: PushDeps & { readonly known: Known; readonly bounds: PushBounds },
  signal: AbortSignal,
): Promise<Notified> {
  const { publicUrl } = deps;
  const post = (notification: Notification) => send(config, notification, deps, signal);
  const task = await engine.get(taskId);
  if (task === undefined) return { after: from, isOver: true };
  let projection =
    known.projection.seq === from ? known.projection : await createProjectionCache(engine, 0).upTo(taskId, from);
  const isTaskDue = snapshot && from === first;
  if (isTaskDue) {
    const refusal = await post(taskNotification(config, task, projection, publicUrl));
    if (refusal !== undefined) return { after: from, isOver: false, refusal };
  }
  let after = from;
  const enough = AbortSignal.any([signal, AbortSignal.timeout(bounds.quietMs)]);
  for await (const item of engine.follow(taskId, { after, signal: enough })) {
    if (item.kind === "progress") continue;
    const before = projection;
    projection = applyEvent(projection, item);
    const notification = eventNotification(config, task, { projection, before, stored: item }, publicUrl);
    const refusal = notification && (await post(notification));
    if (refusal !== undefined) return { after, isOver: false, refusal, ...(isTaskDue && { hasTask: true }) };
    known.projection = projection;
    after = item.seq;
    if (after - from >= maxUnrecorded) break;
  }
  signal.throwIfAborted();
  const isOver = projection.end !== undefined;
  if (isOver || after > from) return { after, isOver };
  await engine.watch(taskId, { after, watcher: runId, signal: eventsOf(taskId) });
  return { after, isOver, waits: true };
}

/** Sends one notification, signed anew each time, since a signature is good for minutes. */
async function send(
  config: PushConfig,
  notification: Notification,
  { webhooks, keys, publicUrl }: Pick<PushDeps, "webhooks" | "keys" | "publicUrl">,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const signed = keys ? await signedNotification(config, notification, await keys.ring(), publicUrl) : notification;
  return webhooks.post(config.url, signed, signal);
}

async function giveUp(
  run: Run,
  { taskId, config, after, hasTask }: PushInput & { readonly hasTask: boolean },
  { reason, final }: Refusal,
  { log = silentLog }: PushDeps,
) {
  const host = URL.parse(config.url)?.host ?? "";
  await run.step("give up", async (step) => {
    step.emit({ type: gaveUp, after, ...(hasTask && { hasTask }) });
    log.warn({ taskId, host, reason }, "A receiver of notifications was given up.");
    return null;
  });
  throw new AppError(final ? "rejected" : "unavailable", `${host} was not notified of task ${taskId}: ${reason}`);
}

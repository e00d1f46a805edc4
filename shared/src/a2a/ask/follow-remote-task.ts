import type { Task } from "@a2a-js/sdk";
import { sleep } from "../../core/async/sleep.ts";
import { AppError } from "../../core/errors.ts";
import type { EventOf } from "../../core/events/events.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import type { A2aClient } from "../client/client.ts";
import type { TaskUpdate } from "../client/task-update.ts";
import { messageText } from "../client/task-update.ts";
import { taskUsage } from "../task-metadata.ts";
import { isSettled } from "../task-state.ts";
import type { RemoteTask } from "./ask.ts";
import { isOver, type RemoteQuestion, type RemoteState, remoteQuestion, remoteState, waitsForPerson } from "./ask.ts";
import { type AskedInForm, askedInForm } from "./asked-in-form.ts";
import { type Attempt, attempted, inTime } from "./attempt.ts";
import { type Collected, readResult } from "./collect.ts";
import { type Notes, remoteNotes, type ToldLines } from "./notes.ts";
import type { SeenCall } from "./peer-calls.ts";
import type { Peers } from "./peers.ts";
import { hasFiles } from "./take-files.ts";

/**
 * How far a task was followed. `after` is the position in its journal if the agent is one of ours.
 */
export type Followed = ToldLines & {
  readonly after: number;
  /** The question answered last. */
  readonly answered?: string;
};

/**
 * The task's state after following it, with its result if it has ended and has no files to fetch.
 */
export type Seen = Followed & {
  readonly state: RemoteState;
  readonly result?: Collected;
  readonly question?: RemoteQuestion & Asked;
  /**
   * The task is quiet, and the next event in its journal, which is in our own store, brings a
   * signal. Journals of earlier versions have none.
   */
  readonly waits?: true;
  /** What the step saw of the calls of an agent of ours; left out if nothing. */
  readonly calls?: readonly SeenCall[];
};

/** What kind of question it is, and about which call; an agent of another system does not say. */
type Asked = Pick<EventOf<"question-asked">, "kind" | "approval"> & { readonly form?: AskedInForm };

const shortestLookMs = 1_000;
/**
 * A task is long-running once the pause between two polls exceeds `longMs`; then `rarelyMs` is the
 * pause if its agent sends push notifications.
 */
const longMs = 1_000;
const rarelyMs = 60_000;

/**
 * Follows a task in one step until it has ended, asks something new or has something to report, for
 * `followMs` at most. A stream only prompts a look; the task's state is what GetTask returns.
 * Idempotent.
 */
export function followRemoteTask(run: Run, remote: RemoteTask, from: Followed, peers: Peers): Promise<Attempt<Seen>> {
  const { ask } = remote;
  const attempt = (step: StepContext) =>
    attempted(step, async (): Promise<Seen> => {
      const signal = inTime(step, ask.endsAt);
      const client = await peers.client(ask.agent, signal);
      const started = performance.now();
      const known = remote.ours ? await peers.engine.get(remote.taskId, run.principal) : undefined;
      const ends = AbortSignal.timeout(Math.max(0, Math.min(peers.bounds.followMs, timeLeft(remote, step))));
      const notes = remoteNotes(ask, from, step);
      const look = { notes, signal, ends };
      const seen = await (remote.ours
        ? watchJournal(client, remote, from, look)
        : pollTask(client, remote, from, look, peers));
      const task = seen.ended ?? (await client.get(remote.taskId, { signal }));
      if (task.id !== remote.taskId) throw new AppError("unavailable", "The agent answered about another task");
      const state = stateAfter(task, from.answered);
      notes.count(taskUsage(task));
      if (!isOver(state)) notes.tellUsage();
      // If an agent's stream ends early, for whatever reason, the agent is not asked again at once.
      if (state === "working" && !ends.aborted) {
        await sleep(Math.max(0, shortestLookMs - (performance.now() - started)), step.signal);
      }
      const result =
        isOver(state) && !hasFiles(task) ? await readResult(task, ask.agent, client, peers, step.signal) : undefined;
      const asked: Asked = state === "auth-required" ? { kind: "authorization" } : (seen.asked ?? askedBy(task));
      const question = waitsForPerson(state) ? { ...remoteQuestion(task), ...asked } : undefined;
      const waits = known !== undefined && state === "working" && seen.isQuiet && ends.aborted;
      if (waits) {
        const watched = { after: known.lastEvent, watcher: run.id, signal: eventsOf(remote) };
        await peers.engine.watch(remote.taskId, watched);
      }
      const calls = notes.calls();
      return {
        ...from,
        after: seen.after,
        ...notes.told(),
        state,
        ...(question && { question }),
        ...(result && { result }),
        ...(waits && { waits }),
        ...(calls.length > 0 && { calls }),
      };
    });
  return run.step("follow", attempt, { effect: "pure" });
}

/**
 * Waits for the next event of a quiet task, without a body, but not past the ask's end, nor longer
 * than an agent may be away unnoticed.
 */
export async function untilEvent(run: Run, remote: RemoteTask, now: number, { bounds }: Peers): Promise<void> {
  const { endsAt = Number.POSITIVE_INFINITY } = remote.ask;
  await run.race<unknown>([
    (branch) => branch.signal(eventsOf(remote)),
    (branch) => branch.sleep(Math.max(0, Math.min(bounds.quietMs, endsAt - now))),
  ]);
}

function eventsOf({ taskId }: RemoteTask): string {
  return `events of ${taskId}`;
}

type Look = { readonly notes: Notes; readonly signal: AbortSignal; readonly ends: AbortSignal };

async function watchJournal(client: A2aClient, remote: RemoteTask, from: Followed, { notes, signal, ends }: Look) {
  const looked: { after: number; isQuiet: boolean; asked?: Asked; ended?: Task } = { after: from.after, isQuiet: true };
  const enough = AbortSignal.any([signal, ends, notes.due]);
  try {
    for await (const update of client.watch(remote.taskId, { after: from.after, signal: enough })) {
      if (update.kind !== "task" && "seq" in update) looked.after = Math.max(looked.after, update.seq ?? 0);
      looked.isQuiet &&= looked.after === from.after && update.kind !== "progress";
      const asked = askedIn(update);
      if (asked !== undefined) looked.asked = asked;
      notes.take(update);
      if (update.kind === "end") looked.ended = update.task;
      if (update.kind === "end" || (update.kind === "status" && isSettled(update.state))) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    looked.isQuiet &&= enough.aborted;
    // A failed stream counts as an ended one; GetTask decides whether the agent is reachable.
    if (!(error instanceof AppError || enough.aborted)) throw error;
  }
  return looked;
}

/**
 * Polls an agent of another system; its status lines are its progress. A long-running task whose
 * agent sends push notifications is polled on each notification, and rarely otherwise.
 */
async function pollTask(
  client: A2aClient,
  remote: RemoteTask,
  from: Followed,
  look: Look,
  { pushCallbacks, at }: Pick<Peers, "pushCallbacks" | "at">,
) {
  const { notes, signal, ends } = look;
  const { askId, agent } = remote.ask;
  const subscription = { taskId: remote.taskId, askId, agentUrl: at(agent).url };
  const enough = AbortSignal.any([signal, ends, notes.due]);
  try {
    for (let pauseMs = 250; !enough.aborted; pauseMs = Math.min(pauseMs * 1.5, 5_000)) {
      const notified = pushCallbacks?.next(askId) ?? signal;
      const task = await client.get(remote.taskId, { signal });
      if (stateAfter(task, from.answered) !== "working") break;
      notes.count(taskUsage(task));
      notes.say(messageText(task.status?.message));
      if (pauseMs > longMs) await pushCallbacks?.subscribe(client, subscription, signal);
      const pause = pushCallbacks?.knows(askId) ? rarelyMs : pauseMs;
      await sleep(pause, AbortSignal.any([enough, notified])).catch(() => signal.throwIfAborted());
    }
  } finally {
    pushCallbacks?.leave(askId);
  }
  return { after: from.after, isQuiet: false, asked: undefined, ended: undefined };
}

/**
 * The task's state. An answered question no longer counts, even if the agent has not noticed the
 * answer yet.
 */
function stateAfter(task: Task, answered: string | undefined): RemoteState {
  const state = remoteState(task);
  return waitsForPerson(state) && remoteQuestion(task).id === answered ? "working" : state;
}

/** What a task asks by its status: in the form of the HITL extension, or in words. */
function askedBy({ status }: Task): Asked {
  const form = askedInForm(status?.message);
  return { kind: form?.type === "approvals" ? "approval" : "question", ...(form && { form }) };
}

function askedIn(update: TaskUpdate): Asked | undefined {
  const event = update.kind === "status" && update.journal ? readEvent(update.journal.event) : undefined;
  if (event?.type !== "question-asked") return undefined;
  const { kind, approval } = event;
  return kind === "approval" ? { kind, ...(approval && { approval }) } : { kind: "question" };
}

function timeLeft({ ask: { endsAt = Number.POSITIVE_INFINITY } }: RemoteTask, { now }: StepContext): number {
  return Math.min(endsAt - now(), 2 ** 31 - 1);
}

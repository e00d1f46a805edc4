import { type SendMessageRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import type { Client, RequestOptions } from "@a2a-js/sdk/client";
import { AppError } from "../../core/errors.ts";
import { isSettled, isTerminal } from "../task-state.ts";
import { callError } from "./client-error.ts";
import { type ClientRetry, pause } from "./client-retry.ts";
import { type TaskUpdate, taskUpdate } from "./task-update.ts";

/** What following a task at another agent needs. */
export type Peer = {
  readonly sdk: Client;
  readonly get: (taskId: string, options?: { readonly signal?: AbortSignal }) => Promise<Task>;
  readonly retry: ClientRetry;
  /** Whether the agent is one of ours, which takes a message sent twice for one. */
  readonly ours: boolean;
  readonly requestOptions: (options: { readonly signal?: AbortSignal }, after?: number) => RequestOptions;
};

/**
 * What to follow: a message that is yet to be sent, or the task it started; or a task to its end.
 */
export type Following = { readonly signal?: AbortSignal } & (
  | { readonly request: SendMessageRequest; readonly taskId?: string }
  | { readonly taskId: string; readonly after?: number }
);

/** Where a reader stands in a task it follows. */
type Position = {
  taskId?: string;
  seq?: number;
  state?: TaskState;
  reply?: Task;
  /** The task as an agent of ours sent it last, if nothing came after it. */
  whole?: Task | undefined;
  news: number;
};

/**
 * Follows a task across broken streams. The message is not sent twice and no update is repeated; of
 * an agent of ours none is missed either. The last update is `end`.
 */
export async function* followTask(peer: Peer, what: Following): AsyncGenerator<TaskUpdate, void, undefined> {
  const { signal } = what;
  const position: Position = { news: 0, ...startOf(what) };
  const isDone = "request" in what || !peer.ours ? isSettled : isTerminal;
  for (let failures = 0; ; ) {
    const before = position.news;
    const failure = yield* readStream(peer, what, position);
    if (position.state !== undefined && isDone(position.state)) break;
    // A task that ended while nobody listened has no stream any more, only a result.
    if (isOver(failure) && position.taskId !== undefined) break;
    if (failure !== undefined && !mayRepeat(peer, position, failure)) throw failure;
    failures = position.news === before ? failures + 1 : 1;
    if (failures > peer.retry.retries)
      throw failure ?? new AppError("unavailable", "The agent's stream keeps breaking off");
    await pause(peer.retry, failures, signal);
  }
  const known = position.reply ?? position.whole;
  yield { kind: "end", task: known ?? (await peer.get(position.taskId ?? "", signal ? { signal } : {})) };
}

/**
 * Whether a task cannot be followed any more; A2A has one error for all that an agent cannot do.
 */
function isOver(failure: AppError | undefined): boolean {
  return failure?.code === "run_ended" || failure?.code === "unsupported";
}

/**
 * Reads one stream to its end and advances the position; returns what broke the stream, if
 * anything.
 */
async function* readStream(
  peer: Peer,
  what: Following,
  position: Position,
): AsyncGenerator<TaskUpdate, AppError | undefined, undefined> {
  // A task's stream goes on after a question, which is the end of a message's turn.
  const isPastTurn = "request" in what && position.taskId !== undefined;
  try {
    for await (const response of openStream(peer, what, position)) {
      const update = taskUpdate(response);
      if (update === undefined || isForeign(response, position)) continue;
      position.whole = peer.ours ? wholeTask(update, position) : undefined;
      if (isRepeated(update, position)) continue;
      move(position, response, update);
      yield update;
      if (isPastTurn && position.state === TaskState.TASK_STATE_INPUT_REQUIRED) return undefined;
    }
    return undefined;
  } catch (error) {
    what.signal?.throwIfAborted();
    return callError(error, peer.retry.agent);
  }
}

function openStream(peer: Peer, what: Following, position: Position): AsyncGenerator<StreamResponse> {
  const options = peer.requestOptions(what.signal ? { signal: what.signal } : {}, position.seq);
  if (position.taskId !== undefined) return peer.sdk.resubscribeTask({ tenant: "", id: position.taskId }, options);
  if ("request" in what) return peer.sdk.sendMessageStream(what.request, options);
  throw new AppError("internal", "There is nothing to follow");
}

function isRepeated(update: TaskUpdate, position: Position): boolean {
  return "seq" in update && update.seq !== undefined && position.seq !== undefined && update.seq <= position.seq;
}

/** The task, if the update is one that is not older than what the reader has. */
function wholeTask(update: TaskUpdate, { seq = 0 }: Position): Task | undefined {
  return update.kind === "task" && update.seq !== undefined && update.seq >= seq ? update.task : undefined;
}

/**
 * Whether a frame is about another task than the one that is followed: a bug of the agent or an
 * attack.
 */
function isForeign({ payload }: StreamResponse, { taskId }: Position): boolean {
  if (taskId === undefined || payload === undefined || payload.$case === "message") return false;
  return (payload.$case === "task" ? payload.value.id : payload.value.taskId) !== taskId;
}

function move(position: Position, { payload }: StreamResponse, update: TaskUpdate): void {
  if (payload?.$case === "task") position.taskId = payload.value.id;
  else if (payload?.$case === "message" && update.kind === "task") position.reply = update.task;
  else if (payload !== undefined && position.taskId === undefined) position.taskId = payload.value.taskId;
  if ("seq" in update && update.seq !== undefined) position.seq = update.seq;
  if (update.kind !== "task") position.news++;
  const state =
    update.kind === "task" ? update.task.status?.state : update.kind === "status" ? update.state : undefined;
  if (state !== undefined) position.state = state;
}

/**
 * A message is sent again only to an agent that takes it for the same one, or when it was refused
 * before it was read.
 */
function mayRepeat(peer: Peer, position: Position, failure: AppError): boolean {
  if (!failure.retryable) return false;
  return peer.ours || position.taskId !== undefined || failure.code === "rate_limited";
}

function startOf(what: Following): Partial<Position> {
  return {
    ...(what.taskId !== undefined && { taskId: what.taskId }),
    ...("after" in what && what.after !== undefined && { seq: what.after }),
  };
}

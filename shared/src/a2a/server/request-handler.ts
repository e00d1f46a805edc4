import type { AgentCard, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { TaskNotCancelableError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { A2ARequestHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { type Caller, requireScope, type Scope } from "../../core/caller.ts";
import { AppError } from "../../core/errors.ts";
import { type RunRecord, terminalStatuses } from "../../core/runs/engine.ts";
import { runOfMessage } from "../../runs/accept-message.ts";
import type { Deleted, Deletions } from "../../runs/deletions.ts";
import type { Quotas } from "../../runs/quotas.ts";
import { cancelRun, untilSettled, whileQuiet } from "../../runs/settle.ts";
import { isTerminal, taskState } from "../task-state.ts";
import { taskView } from "../task-view.ts";
import { AppFailure, hasEnded, toA2AError } from "../wire-error.ts";
import { acceptMessage } from "./accept-message.ts";
import { bareReply } from "./bare-reply.ts";
import { activateRequired, callFacts, noteFailure, wireOf } from "./call-context.ts";
import { listTasks } from "./list-tasks.ts";
import { pushMethods, withoutPush } from "./push-methods.ts";
import { ownTask, type TaskDeps } from "./task-access.ts";
import { mayWaitMs, meantMessage } from "./task-options.ts";
import { watchTask } from "./watch-task.ts";

/** What answering A2A requests needs, whatever the binding. */
export type RequestHandlerDeps = TaskDeps & {
  readonly card: AgentCard;
  /** The card for an authenticated caller; none without authentication. */
  readonly extendedCard?: (caller: Caller) => Promise<AgentCard>;
  /** The URIs of extensions that every call has to activate. */
  readonly requiredExtensions: readonly string[];
  readonly deletions: Deletions;
  /** What callers may use. */
  readonly quotas: Quotas;
  /** Receives unexpected errors; the caller learns only that an internal error occurred. */
  readonly report: (bug: unknown) => void;
};

/**
 * A2A's operations, and its streams in batches: the updates that are there at once, which a binding
 * sends together.
 */
export type RequestHandler = A2ARequestHandler & {
  /** Deletes a task that has ended, which A2A has no operation for. */
  deleteTask(request: { readonly id: string }, context: ServerCallContext): Promise<Deleted>;
  readonly batches: {
    sendMessageStream(request: SendMessageRequest, context: ServerCallContext): TaskBatches;
    resubscribe(request: { readonly id: string }, context: ServerCallContext): TaskBatches;
  };
};

/** The updates of a task. */
export type TaskBatches = AsyncGenerator<readonly StreamResponse[], void, undefined>;

/**
 * A2A over the durable journal. Every answer and every stream is read from the journal, so none
 * depends on who else is connected, and nothing is lost while nobody is. Throws A2AErrors only.
 */
export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const { guard, guardStream } = guardsOf(deps);
  const view = async (run: RunRecord, context: ServerCallContext, historyLength?: number): Promise<Task> => {
    const detail = { historyLength, artifacts: true, hitl: callFacts(context).hitl };
    return taskView(run, await deps.projections.current(run), deps.publicUrl, detail, run);
  };
  const current = async (id: string, context: ServerCallContext, historyLength?: number): Promise<Task> =>
    view(await ownTask(deps, id, callFacts(context).principal), context, historyLength);

  const accept = async (request: SendMessageRequest, context: ServerCallContext) => {
    const call = callFacts(context);
    const { dedupe, hitl, trace, principal } = call;
    const quota = await deps.quotas.admit(call);
    const dedupeMs = dedupe ? undefined : deps.dedupeMs;
    return acceptMessage(deps, request, { principal, wire: wireOf(context), hitl, trace, dedupeMs, quota });
  };
  const batches: RequestHandler["batches"] = {
    sendMessageStream: guardStream("run", async function* (request: SendMessageRequest, context) {
      const { signal, after, journal, hitl } = callFacts(context);
      const run = await accept(request, context);
      const { historyLength } = request.configuration ?? {};
      yield* watchTask(deps, run, { signal, after, historyLength, journal, hitl, until: "turn" });
    }),
    resubscribe: guardStream("read", async function* ({ id }: { id: string }, context) {
      const { principal, signal, after, journal, hitl } = callFacts(context);
      const run = await ownTask(deps, id, principal);
      const missed = after !== undefined && after < run.lastEvent;
      if (!missed && isTerminal(taskState(await deps.projections.current(run), run))) {
        throw hasEnded("The task has ended; read it with GetTask");
      }
      yield* watchTask(deps, run, { signal, after, journal, hitl, until: "task" });
    }),
  };

  return {
    batches,
    ...(deps.receivers === undefined ? withoutPush : pushMethods(deps, deps.receivers, guard)),
    getAgentCard: async () => deps.card,
    getAuthenticatedExtendedAgentCard: guard(undefined, async (_: unknown, context: ServerCallContext) => {
      if (deps.extendedCard === undefined) throw new UnsupportedOperationError("This agent has no extended card");
      return deps.extendedCard(callFacts(context));
    }),
    sendMessage: guard("run", async (request: SendMessageRequest, context: ServerCallContext) => {
      const call = callFacts(context);
      const wait = waitFor(request, call);
      const started = await accept(request, context);
      const accepted = deps.projections.ended(started.id) ?? started;
      const isOver = terminalStatuses.includes(accepted.status);
      if (!isOver) await (wait.isWatched ? whileQuiet : untilSettled)(deps, accepted, call.signal, wait.maxMs);
      const run = isOver ? accepted : await ownTask(deps, accepted.id, call.principal);
      const task = await view(run, context, request.configuration?.historyLength);
      return wait.wantsTask ? task : (bareReply(run, task) ?? task);
    }),
    sendMessageStream: (request, context) => oneByOne(batches.sendMessageStream(request, context)),
    getTask: guard("read", ({ id, historyLength }, context) => current(id, context, historyLength)),
    listTasks: guard("read", (request, context) => listTasks(deps, request, callFacts(context))),
    deleteTask: guard("run", async ({ id }: { readonly id: string }, context: ServerCallContext) => {
      const run = await ownTask(deps, id, callFacts(context).principal);
      try {
        return await deps.deletions.run(run);
      } catch (error) {
        // Deleting is not part of A2A, which knows no conflict: HTTP's status is used.
        throw error instanceof AppError && error.code === "conflict" ? new AppFailure(error) : error;
      }
    }),
    cancelTask: guard("run", async ({ id, metadata }, context) => {
      const { principal, signal } = callFacts(context);
      const messageId = meantMessage(metadata);
      const run = await (messageId === undefined
        ? ownTask(deps, id, principal)
        : runOfMessage(deps, messageId, principal));
      // A caller that knows only the message cannot ask for its task's state, so a task that has
      // ended is returned as the answer.
      if (messageId === undefined || !terminalStatuses.includes(run.status)) await cancel(deps, run, signal);
      return current(run.id, context);
    }),
    resubscribe: (request, context) => oneByOne(batches.resubscribe(request, context)),
  };
}

/** As `cancelRun`, in the words of A2A. */
function cancel(deps: RequestHandlerDeps, run: RunRecord, signal: AbortSignal): Promise<void> {
  return cancelRun(deps, run, signal).catch((error: unknown) => {
    const isOver = error instanceof AppError && error.code === "run_ended";
    throw isOver ? new TaskNotCancelableError(`Task ${run.id} has ended`) : error;
  });
}

async function* oneByOne(batches: TaskBatches): AsyncGenerator<StreamResponse, void, undefined> {
  for await (const batch of batches) for (const update of batch) yield update;
}

/** How long a message's caller waits for its task, at most and for what, and what it is told. */
function waitFor(request: SendMessageRequest, { journal }: Pick<ReturnType<typeof callFacts>, "journal">) {
  const { message, configuration, metadata } = request;
  const { returnImmediately = false, taskPushNotificationConfig: receiver } = configuration ?? {};
  const mayMs = mayWaitMs(metadata);
  // A caller that reads the journal watches the task as soon as there is something to see.
  const isWatched = returnImmediately && mayMs > 0 && journal;
  // Whether the caller has a task of the message already, or is told about it.
  const isOnTask = message?.taskId !== "" || receiver !== undefined;
  const maxMs = returnImmediately ? mayMs : undefined;
  return { isWatched, maxMs, wantsTask: isOnTask || (returnImmediately && !isWatched) };
}

/**
 * What every call goes through: its scope, if any, the extensions it needs, and errors as A2A's.
 */
function guardsOf(deps: RequestHandlerDeps) {
  const guard = <Params, Result>(
    scope: Scope | undefined,
    work: (params: Params, context: ServerCallContext) => Promise<Result>,
  ) => {
    return async (params: Params, context: ServerCallContext): Promise<Result> => {
      try {
        if (scope !== undefined) requireScope(callFacts(context), scope);
        activateRequired(context, deps.requiredExtensions);
        return await work(params, context);
      } catch (error) {
        const failure = toA2AError(error, deps.report);
        noteFailure(context, failure);
        throw failure;
      }
    };
  };
  const guardStream = <Params>(scope: Scope, open: (params: Params, context: ServerCallContext) => TaskBatches) => {
    return async function* (params: Params, context: ServerCallContext): TaskBatches {
      try {
        requireScope(callFacts(context), scope);
        activateRequired(context, deps.requiredExtensions);
        if (deps.card.capabilities?.streaming !== true)
          throw new UnsupportedOperationError("This agent streams nothing");
        yield* open(params, context);
      } catch (error) {
        throw toA2AError(error, deps.report);
      }
    };
  };
  return { guard, guardStream };
}

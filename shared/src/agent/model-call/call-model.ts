import { AppError } from "../../core/errors.ts";
import type { JournalEvent } from "../../core/events/events.ts";
import type { Progress } from "../../core/events/progress.ts";
import type { Model, ModelReply, ModelRequest, Usage } from "../../core/model.ts";
import { type RecordedRequest, type RequestMarks, recordRequest } from "../../core/runs/asked-request.ts";
import type { StepContext } from "../../core/runs/run.ts";
import type { StoredFile } from "../../core/workspace.ts";
import type { SeenObservation } from "../task/agent-state.ts";
import { type Account, timeLimit, workDeadline } from "./spending.ts";

/**
 * The outcome of one model call. `discarded` is the usage of answers that broke off before it,
 * which are paid for too.
 */
export type CalledModel = {
  readonly reply: ModelReply;
  readonly usage: Usage;
  readonly discarded?: Usage;
  readonly milliseconds: number;
  /** What the model was asked, for the caller's step to record. */
  readonly asked: RecordedRequest;
};

/** The events that report a model call: each has its usage. */
type ModelCallEvent = Extract<JournalEvent, { type: "model-replied" | "model-asked" | "context-compacted" }>;

type CallContext = Pick<StepContext, "emit"> & {
  /** The step's key, or another that is unique in the run: the request is recorded under it. */
  readonly key: string;
  /** The conversation's former request, which this one continues. */
  readonly last?: RequestMarks | undefined;
  readonly signal: AbortSignal;
  readonly principal: string;
  /** Shows the answer as it arrives; left out for answers that are not the agent's words. */
  progress?(event: Progress): void;
};

/**
 * Calls the model. All code of runs calls it here, so that every call is counted. The event that
 * `tell` makes of the call is recorded with the step. Rejects as `Model.ask` does.
 */
export async function callModel(
  request: ModelRequest,
  model: Model,
  { signal, emit, progress, key, last, principal }: CallContext,
  tell: (called: CalledModel) => ModelCallEvent,
): Promise<CalledModel> {
  const started = performance.now();
  let discarded: Usage | undefined;
  let at = 0;
  for await (const event of model.ask(request, { signal, principal })) {
    if (event.type === "retry") {
      discarded = sum(discarded, event.usage);
      at = 0;
      progress?.({ type: "deltas-void", cause: event.cause });
    } else if (event.type === "text-delta") {
      progress?.({ ...event, at });
      at += event.text.length;
    } else if (event.type !== "reply") progress?.(event);
    else {
      const { reply } = event;
      const milliseconds = Math.round(performance.now() - started);
      const asked = recordRequest(request, key.slice(key.indexOf("/") + 1), last);
      const called = { reply, usage: reply.usage, ...(discarded && { discarded }), milliseconds, asked };
      emit({ ...tell(called), ...(discarded && { discarded }), request: asked.id });
      return called;
    }
  }
  throw new AppError("model_unavailable", "The model's answer ended without a reply.");
}

function sum(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const cacheWriteTokens = (one.cacheWriteTokens ?? 0) + (other.cacheWriteTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    ...(cacheWriteTokens > 0 && { cacheWriteTokens }),
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd: one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd,
    source: "estimate",
  };
}

type SeenText = Omit<SeenObservation, "role" | "images">;

/**
 * A tool that an answer calls in its text, where nothing is called; and the files that the task
 * asks for and nobody has made, if the task has called no tool at all.
 */
export type Doubts = { readonly spelledCall?: string; readonly unmade?: readonly string[] };

/** What a model step records in the journal. */
export type RecordedReply = Pick<ModelReply, "text" | "toolCalls" | "finish" | "refused" | "usage" | "carried"> & {
  readonly discarded?: Usage;
  readonly milliseconds: number;
  readonly asked?: RecordedRequest;
  /** What the model was shown before it replied, and its images. */
  readonly observation?: SeenText;
  readonly images?: readonly StoredFile[];
  /**
   * About how many input tokens were the prompt's tail: the hints; in earlier versions the
   * observation and the newest image too.
   */
  readonly sightTokens?: number;
  /** Estimated tokens of the prompt's system text and tools, when they have changed. */
  readonly fixedTokens?: number;
  /** What speaks against taking a text as the task's answer. */
  readonly doubts?: Doubts;
};

/**
 * Makes one model call within the task's time, shows deltas to watchers, and records the reply as
 * an event, with what the model was shown that the conversation does not have yet.
 */
export async function recordReply(
  task: Account,
  request: ModelRequest,
  model: Model,
  step: StepContext,
  {
    observation,
    ...context
  }: Pick<CallContext, "principal" | "last"> & { readonly observation?: SeenObservation | undefined },
): Promise<RecordedReply> {
  const deadline = workDeadline(task, step.signal);
  const shown = observation === undefined ? {} : shownOf(observation);
  try {
    const { reply, usage, discarded, milliseconds, asked } = await callModel(
      request,
      model,
      { ...step, ...context, signal: deadline.signal },
      ({ reply: { text, toolCalls, model }, usage, milliseconds }) => ({
        type: "model-replied",
        text,
        toolCalls,
        usage,
        model,
        milliseconds,
        ...shown,
      }),
    );
    const { text, toolCalls, finish, refused, carried } = reply;
    const about = { usage, ...(discarded && { discarded }), milliseconds, asked, ...shown };
    return { text, toolCalls, finish, ...(refused && { refused }), ...(carried && { carried }), ...about };
  } catch (error) {
    throw deadline.passed() ? timeLimit(task) : error;
  }
}

function shownOf({ role: _, images, ...observation }: SeenObservation): Pick<RecordedReply, "observation" | "images"> {
  return { observation, ...(images && { images }) };
}

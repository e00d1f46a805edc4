import type { CallToolResult, ElicitResult } from "@modelcontextprotocol/client";
import { AppError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { ToolContext } from "../../core/tools/tool.ts";

/**
 * The outcome of a call: the server's result, or a question for the person, after whose answer the
 * call continues.
 */
export type ServerCallOutcome =
  | { readonly type: "result"; readonly result: CallToolResult }
  | { readonly type: "asks"; readonly question: string; readonly state: Json };

/** A call as its work sees it. If it asks, it outlives the step that started it. */
export type SuspendedCall = {
  /** Aborts when its current step does, or when nobody will continue it. */
  readonly signal: AbortSignal;
  /** The context of its current step. */
  context(): ToolContext;
  /** Ends the step with this outcome and resolves with the answer from a later step. */
  ask(outcome: (id: string) => ServerCallOutcome): Promise<ElicitResult>;
};

type Resume = (answer: ElicitResult, context: ToolContext) => Promise<ServerCallOutcome>;

/** Calls that wait between two steps for a person's answer, in this process only. */
export type SuspendedCalls = {
  /** Runs work that may ask. Resolves with its first question, or with its result. */
  hold(context: ToolContext, work: (call: SuspendedCall) => Promise<ServerCallOutcome>): Promise<ServerCallOutcome>;
  /** A function that continues a call; undefined if the call is gone. */
  take(id: string): Resume | undefined;
  /** Ends the calls of one conversation, by its workspace's root, or all. */
  release(root?: string): void;
};

const longestMs = 24 * 60 * 60 * 1000;

/** Creates the store of one server's calls. */
export function createSuspendedCalls(): SuspendedCalls {
  const waiting = new Map<string, { readonly root: string; readonly resume: Resume; end(): void }>();
  const begin: SuspendedCalls["hold"] = (first, work) => {
    const life = new AbortController();
    let context = first;
    let step = Promise.withResolvers<ServerCallOutcome>();
    let stopWatching = watch(first.signal, life);
    let isAsking = false;
    const call: SuspendedCall = {
      signal: life.signal,
      context: () => context,
      ask(outcome) {
        // A person is asked one thing at a time; what comes meanwhile would reach nobody.
        if (isAsking) return Promise.resolve({ action: "cancel" });
        const id = crypto.randomUUID();
        // Before anything else: a question that cannot be put leaves the call as it is.
        const asks = outcome(id);
        isAsking = true;
        const answered = Promise.withResolvers<ElicitResult>();
        const timer = setTimeout(() => life.abort(gone()), longestMs);
        life.signal.addEventListener("abort", () => answered.reject(life.signal.reason), { once: true });
        stopWatching();
        const end = () => life.abort(gone());
        const resume: Resume = (answer, next) => {
          clearTimeout(timer);
          context = next;
          step = Promise.withResolvers();
          stopWatching = watch(next.signal, life);
          answered.resolve(answer);
          return step.promise;
        };
        waiting.set(id, { root: context.workspace.root, resume, end });
        step.resolve(asks);
        return answered.promise.finally(() => {
          isAsking = false;
          clearTimeout(timer);
          waiting.delete(id);
        });
      },
    };
    work(call)
      .then(
        (outcome) => step.resolve(outcome),
        (error) => step.reject(error),
      )
      .finally(() => {
        stopWatching();
        // No work is left that could receive an answer.
        life.abort(gone());
      });
    return step.promise;
  };
  return {
    hold: begin,
    take: (id) => waiting.get(id)?.resume,
    release(root) {
      for (const each of [...waiting.values()]) if (root === undefined || each.root === root) each.end();
    },
  };
}

function gone(): AppError {
  return new AppError("unavailable", "nobody answered what it asked.");
}

function watch(signal: AbortSignal, life: AbortController): () => void {
  const abort = () => life.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}

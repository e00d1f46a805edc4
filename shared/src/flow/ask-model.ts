import { type RecordedReply, recordReply } from "../agent/model-call/call-model.ts";
import { type ModelPauses, retryingStep } from "../agent/model-call/retrying-step.ts";
import { type Account, roomForAnswer } from "../agent/model-call/spending.ts";
import type { Model, ModelRequest } from "../core/model.ts";
import type { Run, StepContext } from "../core/runs/run.ts";
import { usageOfAnswers } from "../core/usage.ts";
import { estimateTokens } from "../models/tokens.ts";
import { type FlowState, spend, workedMs } from "./flow-state.ts";
import { remaining } from "./reserve.ts";

/**
 * The flow's own model, and how long to wait when it cannot answer now; defaults to the usual
 * pauses.
 */
export type ModelDeps = { readonly model: Model; readonly modelPauses?: ModelPauses };

/** A request to the flow's model. `isAnswer`: its text becomes the flow's answer. */
type FlowModelRequest = Pick<ModelRequest, "messages" | "tools" | "toolChoice" | "answerSchema"> & {
  readonly isAnswer?: boolean;
};

/**
 * Makes one of the flow's own model calls, in one durable step: a recorded reply is never paid for
 * again. Rejects with the error of a limit that the call would exceed.
 */
export async function askFlowModel(
  run: Run,
  state: FlowState,
  name: string,
  { isAnswer = false, ...request }: FlowModelRequest,
  { model, modelPauses }: ModelDeps,
): Promise<RecordedReply> {
  const waiting = {
    pauses: modelPauses,
    hasAnswered: state.spent.tokens > 0,
    leftMs: (step: StepContext) => state.begun.limits.wallMs - workedMs(state, step),
    // The flow's time advances by itself.
    spent: () => undefined,
  };
  const reply = await retryingStep(run, name, waiting, async (step) => {
    const account = accountOf(state, step);
    const inputTokens = estimateTokens(request.messages, request.tools);
    const maxOutputTokens = roomForAnswer(account, inputTokens, model);
    const shown = isAnswer ? showingAnswer(step) : step;
    return recordReply(account, { ...request, maxOutputTokens }, model, shown, { principal: run.principal });
  });
  spend(state, usageOfAnswers(reply));
  return reply;
}

/** The step, with its live text marked as the flow's answer. */
function showingAnswer(step: StepContext): StepContext {
  return {
    ...step,
    progress: (event) => step.progress(event.type === "text-delta" ? { ...event, isAnswer: true } : event),
  };
}

/** The flow's budget as a task's: what is reserved for agents at work counts as spent. */
function accountOf(state: FlowState, step: StepContext): Account {
  const { limits, contextWindow } = state.begun;
  const left = remaining(state);
  return {
    limits,
    contextWindow,
    spent: {
      tokens: limits.tokens - left.tokens,
      usd: limits.usd - left.usd,
      unpriced: state.spent.unpriced,
      workMs: workedMs(state, step),
    },
  };
}

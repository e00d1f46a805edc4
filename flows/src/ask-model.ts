import { type RecordedReply, recordReply } from "@manyhands/shared/agent/ask-model";
import { type Account, roomForAnswer } from "@manyhands/shared/agent/spending";
import { usageOfCall } from "@manyhands/shared/agent/task-usage";
import type { Run } from "@manyhands/shared/durable/run";
import type { Model, ModelRequest } from "@manyhands/shared/llm/model";
import { estimateTokens } from "@manyhands/shared/llm/tokens";
import { unreserved } from "./allot.ts";
import { type FlowState, spend, workedMs } from "./flow-state.ts";

/**
 * One model call of the flow's own, in one durable step: a reply that was recorded is never paid for again. Rejects with the error of a
 * bound that the call would pass.
 */
export async function askModel(
  run: Run,
  state: FlowState,
  name: string,
  request: Pick<ModelRequest, "messages" | "tools" | "toolChoice">,
  model: Model,
): Promise<RecordedReply> {
  const reply = await run.step(name, async (step) => {
    const account = accountOf(state);
    const inputTokens = estimateTokens(request.messages, request.tools);
    const maxOutputTokens = roomForAnswer(account, inputTokens, model);
    const { text, toolCalls, finish, usage, milliseconds } = await recordReply(
      account,
      { ...request, maxOutputTokens },
      model,
      step,
    );
    return { text, toolCalls, finish, usage, milliseconds };
  });
  spend(state, usageOfCall(reply.usage));
  return reply;
}

/** The flow's budget as a task's: what is set aside for agents at work counts as gone. */
function accountOf(state: FlowState): Account {
  const { limits, contextWindow } = state.begun;
  const left = unreserved(state);
  return {
    limits,
    contextWindow,
    spent: {
      tokens: limits.tokens - left.tokens,
      usd: limits.usd - left.usd,
      unpriced: state.spent.unpriced,
      workMs: workedMs(state),
    },
  };
}

import type { ModelRequest, ToolCall, Usage } from "../core/model.ts";
import { plainName } from "./capabilities.ts";
import type { ChunkUsage } from "./completion-chunk.ts";
import type { ModelConfig } from "./config.ts";
import { imageRuleOf } from "./image-rule.ts";
import { costOf } from "./price.ts";
import { estimateText, estimateTokens } from "./tokens.ts";

/** Tokens and money of one call: the provider's numbers where it gave any, else estimated from what was sent and what came back. */
export function usageOf(
  config: ModelConfig,
  request: ModelRequest,
  answer: {
    readonly text: string;
    readonly reasoning: string;
    readonly toolCalls: readonly ToolCall[];
    readonly usage: ChunkUsage | undefined;
  },
): Usage {
  const { usage } = answer;
  const reported = usage?.prompt_tokens != null && usage.completion_tokens != null;
  const counts = {
    inputTokens:
      usage?.prompt_tokens ?? estimateTokens(request.messages, request.tools, imageRuleOf(plainName(config.name))),
    cachedInputTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? estimateOutput(answer),
  };
  return { ...counts, costUsd: costOf(counts, config), source: reported ? "provider" : "estimate" };
}

function estimateOutput(answer: { text: string; reasoning: string; toolCalls: readonly ToolCall[] }): number {
  return answer.toolCalls.reduce(
    (sum, call) => sum + estimateText(call.name) + estimateText(call.arguments),
    estimateText(answer.text) + estimateText(answer.reasoning),
  );
}

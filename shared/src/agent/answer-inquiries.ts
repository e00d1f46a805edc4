import type { StepContext } from "../durable/run.ts";
import { AppError } from "../errors.ts";
import type { Model, ModelReply, ModelRequest, Usage } from "../llm/model.ts";
import { estimateTokens } from "../llm/tokens.ts";
import type { Inquiry } from "../tools/tool.ts";
import { type Account, roomForAnswer } from "./spending.ts";

/** What inquiries under way, or not yet counted to their task, use up of its bounds. */
export type PendingSpending = { tokens: number; usd: number };

const usualAnswer = 2_000;

/**
 * Answers what the tool of one call asks the model, within what the task's bounds leave beside the other calls of the turn. `usage` grows with
 * each answer; the caller records it with the call.
 */
export function answerInquiries(
  callId: string,
  { task, pending }: { readonly task: Account; readonly pending: PendingSpending },
  model: Model,
  step: Pick<StepContext, "emit">,
): { readonly usage: readonly Usage[]; ask(inquiry: Inquiry, signal: AbortSignal): Promise<string> } {
  const usage: Usage[] = [];
  return {
    usage,
    async ask(inquiry, signal) {
      signal.throwIfAborted();
      const messages = messagesOf(inquiry, model);
      const inputTokens = estimateTokens(messages, []);
      const { spent } = task;
      const used = { ...spent, tokens: spent.tokens + pending.tokens, usd: spent.usd + pending.usd };
      const room = roomForAnswer({ ...task, spent: used }, inputTokens, model);
      const maxOutputTokens = Math.min(inquiry.maxOutputTokens ?? usualAnswer, room);
      const reserved = {
        tokens: inputTokens + maxOutputTokens,
        usd: model.cost({ inputTokens, cachedInputTokens: 0, outputTokens: maxOutputTokens }) ?? 0,
      };
      add(pending, reserved, 1);
      try {
        const started = performance.now();
        const reply = await replyTo({ messages, tools: [], toolChoice: "none", maxOutputTokens }, model, signal);
        usage.push(reply.usage);
        add(pending, { tokens: reply.usage.inputTokens + reply.usage.outputTokens, usd: reply.usage.costUsd ?? 0 }, 1);
        const milliseconds = Math.round(performance.now() - started);
        step.emit({ type: "model-asked", callId, usage: reply.usage, model: reply.model, milliseconds });
        return reply.text;
      } finally {
        add(pending, reserved, -1);
      }
    },
  };
}

function add(pending: PendingSpending, { tokens, usd }: PendingSpending, sign: 1 | -1): void {
  pending.tokens += sign * tokens;
  pending.usd += sign * usd;
}

function messagesOf({ instructions, text, images = [] }: Inquiry, model: Model): ModelRequest["messages"] {
  const seen = model.capabilities.vision ? images : [];
  return [
    { role: "system", text: instructions },
    { role: "user", parts: [{ type: "text", text }, ...seen] },
  ];
}

async function replyTo(request: ModelRequest, model: Model, signal: AbortSignal): Promise<ModelReply> {
  for await (const event of model.ask(request, { signal })) if (event.type === "reply") return event.reply;
  throw new AppError("model_unavailable", "The model's answer ended without a reply.");
}

import type { Model, ModelRequest, Usage } from "../../core/model.ts";
import type { RecordedRequest } from "../../core/runs/asked-request.ts";
import type { StepContext } from "../../core/runs/run.ts";
import type { Inquiry } from "../../core/tools/tool.ts";
import { usageOfAnswers } from "../../core/usage.ts";
import { estimateTokens } from "../../models/tokens.ts";
import { type CalledModel, callModel } from "./call-model.ts";
import { type Account, roomForAnswer } from "./spending.ts";

/** What inquiries in flight, or not yet counted in their task, use of its limits. */
export type PendingSpending = { tokens: number; usd: number };

const usualAnswer = 2_000;

/**
 * Answers the inquiries of one tool call, within what the task's limits and the other calls of the
 * turn leave. `usage` and `asked` grow with each answer; the caller records them with the call.
 */
export function answerInquiries(
  callId: string,
  { task, pending }: { readonly task: Account; readonly pending: PendingSpending },
  own: Model,
  step: Pick<StepContext, "emit" | "key"> & { readonly principal: string },
): {
  readonly usage: readonly Usage[];
  readonly asked: readonly RecordedRequest[];
  ask(inquiry: Inquiry, signal: AbortSignal): Promise<string>;
} {
  const usage: Usage[] = [];
  const asked: RecordedRequest[] = [];
  let begun = 0;
  return {
    usage,
    asked,
    async ask(inquiry, signal) {
      signal.throwIfAborted();
      const key = `${step.key}.${++begun}`;
      const model = answering(inquiry, own);
      const messages = messagesOf(inquiry, model);
      const inputTokens = estimateTokens(messages, [], model.imageRule);
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
        const request: ModelRequest = { messages, tools: [], toolChoice: "none", maxOutputTokens };
        const tell = ({ reply: { model: name }, usage, milliseconds }: CalledModel) =>
          ({ type: "model-asked", callId, usage, model: name, milliseconds }) as const;
        const called = await callModel(request, model, { ...step, key, signal }, tell);
        asked.push(called.asked);
        usage.push(called.usage, ...(called.discarded === undefined ? [] : [called.discarded]));
        add(pending, usageOfAnswers(called), 1);
        return called.reply.text;
      } finally {
        add(pending, reserved, -1);
      }
    },
  };
}

/**
 * The model that the settings name for this, unless it cannot see what there is to see, or its
 * window is too small.
 */
function answering(inquiry: Inquiry, own: Model): Model {
  const { extract } = own.roles ?? {};
  if (extract === undefined) return own;
  const { vision, contextWindow } = extract.capabilities;
  if (!vision && (inquiry.images?.length ?? 0) > 0) return own;
  const needed = estimateTokens(messagesOf(inquiry, extract), [], extract.imageRule);
  return needed + (inquiry.maxOutputTokens ?? usualAnswer) > contextWindow * fullAt ? own : extract;
}

/** Sizes are estimates: this much of a window counts as all of it. */
const fullAt = 0.8;

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

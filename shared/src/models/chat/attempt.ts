import type { ModelEvent, ModelMessage, ModelReply, ModelRequest, ToolCall, Usage } from "../../core/model.ts";
import { isCompleteObject } from "../arguments.ts";
import { plainName, type Traits } from "../capabilities.ts";
import type { ModelConfig } from "../config.ts";
import { imageRuleOf } from "../images.ts";
import { ModelFailure } from "../model-failure.ts";
import { costOf } from "../price.ts";
import { estimateText, estimateTokens } from "../tokens.ts";
import { asPromptRequest } from "./prompt-tools.ts";
import type { Protocol, ProtocolAnswer } from "./protocol.ts";
import { hideCalls } from "./text-calls.ts";

/** What all attempts at one model share. */
export type AttemptScope = { readonly config: ModelConfig; readonly protocol: Protocol };

/**
 * How an attempt ended; `cut` if the stream stopped without a reason, and the reply is what had
 * arrived.
 */
export type AttemptResult = { readonly reply: ModelReply; readonly cut: boolean };

/**
 * Asks once. Throws a ModelFailure or the signal's reason. However it ends, even if the iteration
 * is left early, the connection is closed.
 */
export async function* attempt(
  { config, protocol }: AttemptScope,
  request: ModelRequest,
  traits: Traits,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, AttemptResult> {
  const closing = new AbortController();
  const asked = traits.tools ? request : asPromptRequest(request);
  let hasEnded = false;
  try {
    const connection = AbortSignal.any([signal, closing.signal]);
    const deltas = protocol.answer(asked, traits, { signal, connection });
    const names = request.tools.map((tool) => tool.name);
    const native = traits.tools;
    const mayCall = names.length > 0 && request.toolChoice !== "none";
    const answer = yield* native && !mayCall ? deltas : hideCalls(deltas, names, { native });
    hasEnded = true;
    return resultOf(answer, request, config);
  } finally {
    // After the end, the connection is left open for the next request.
    if (!hasEnded) closing.abort();
  }
}

function resultOf(answer: ProtocolAnswer, request: ModelRequest, config: ModelConfig): AttemptResult {
  const cut = answer.finish === undefined;
  if (cut && answer.text === "" && answer.toolCalls.length === 0) {
    throw new ModelFailure("unavailable", "the answer ended before it began");
  }
  const finish = finishOf(answer);
  // A call whose arguments were cut off must not run, nor be repaired by guessing.
  const calls = answer.toolCalls.filter((call) => finish !== "length" || isCompleteObject(call.arguments));
  const reply = {
    text: answer.text,
    ...(answer.reasoning === "" ? {} : { reasoning: answer.reasoning }),
    toolCalls: withDistinctIds(calls, request.messages),
    // It speaks of the calls by their places.
    ...(answer.carried !== undefined && calls.length === answer.toolCalls.length && { carried: answer.carried }),
    finish,
    ...(answer.refused === true && calls.length === 0 && { refused: true }),
    usage: usageOf(config, request, answer),
    model: config.name,
  };
  return { reply, cut };
}

function finishOf({ finish, toolCalls }: ProtocolAnswer): ModelReply["finish"] {
  if (finish === undefined || finish === "length") return "length";
  if (finish === "content-filter") return finish;
  // Some servers do not report `tool_calls` when there are calls, and some report it when there are
  // none.
  return toolCalls.length > 0 ? "tool-calls" : "stop";
}

/**
 * Tokens and money of one call: the provider's numbers if it sent any, otherwise estimated from
 * request and answer.
 */
function usageOf(config: ModelConfig, request: ModelRequest, answer: ProtocolAnswer): Usage {
  const { input, cached = 0, cacheWrite = 0, output } = answer.usage;
  const counts = {
    inputTokens: input ?? estimateTokens(request.messages, request.tools, imageRuleOf(plainName(config.name))),
    cachedInputTokens: cached,
    ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
    outputTokens: output ?? estimateOutput(answer),
  };
  const isReported = input !== undefined && output !== undefined;
  return { ...counts, costUsd: costOf(counts, config), source: isReported ? "provider" : "estimate" };
}

function estimateOutput(answer: { text: string; reasoning: string; toolCalls: readonly ToolCall[] }): number {
  return answer.toolCalls.reduce(
    (sum, call) => sum + estimateText(call.name) + estimateText(call.arguments),
    estimateText(answer.text) + estimateText(answer.reasoning),
  );
}

/**
 * The calls with ids that are unique in the conversation: a missing id becomes `call_<n>`, numbered
 * across the conversation, and an id used before gets a number appended. Deterministic for the same
 * conversation and reply.
 */
function withDistinctIds(calls: readonly ToolCall[], messages: readonly ModelMessage[]): readonly ToolCall[] {
  const earlier = callIds(messages);
  const wanted = new Set(calls.map(({ id }) => id));
  if (wanted.size === calls.length && !wanted.has("") && wanted.isDisjointFrom(earlier)) return calls;
  const used = new Set(earlier);
  return calls.map((call, index) => {
    let n = earlier.size + index + 1;
    let id = call.id === "" ? `call_${n}` : call.id;
    while (used.has(id)) id = `${call.id === "" ? "call" : call.id}_${n++}`;
    used.add(id);
    return { ...call, id };
  });
}

/** The ids of the calls in a conversation up to its answer `last`, the message at `at`. */
type KnownIds = { readonly ids: Set<string>; readonly at: number; readonly last: ModelMessage };

/** By the first message after the instructions, which tasks share. */
const knownIds = new WeakMap<ModelMessage, KnownIds>();

/** The ids of all calls in a conversation; of one that has grown, only what is new is read. */
function callIds(messages: readonly ModelMessage[]): ReadonlySet<string> {
  const at = messages.findLastIndex(({ role }) => role === "assistant");
  const [first, key = first] = messages;
  const last = messages[at];
  if (key === undefined || last === undefined) return new Set();
  const known = knownIds.get(key);
  const isEarlier = known !== undefined && messages[known.at] === known.last;
  const ids = isEarlier ? known.ids : new Set<string>();
  for (const message of messages.slice(isEarlier ? known.at + 1 : 0, at + 1))
    if (message.role === "assistant") for (const { id } of message.toolCalls) ids.add(id);
  knownIds.set(key, { ids, at, last });
  return ids;
}

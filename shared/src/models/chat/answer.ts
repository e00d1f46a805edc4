import * as z from "zod";
import type { ModelEvent, ToolCall } from "../../core/model.ts";
import { ModelFailure } from "../model-failure.ts";
import type { Delta } from "./protocol.ts";
import { createThinkSplitter, type ReplyPiece } from "./think-tags.ts";

const text = z.string().nullish();

const functionDelta = z.object({ name: text, arguments: z.union([z.string(), z.looseObject({})]).nullish() });

const toolCallDelta = z.object({ index: z.number().nullish(), id: text, function: functionDelta.nullish() });

/** Some servers answer in parts, as requests may; parts other than text are ignored. */
const content = z.union([
  z.string(),
  z.array(z.object({ text })).transform((parts) => parts.map((part) => part.text ?? "").join("")),
]);

const delta = z.object({
  content: content.nullish(),
  refusal: text,
  /**
   * Reasoning has no standard field: the first is used by DeepSeek and vLLM, the second by
   * OpenRouter and Ollama.
   */
  reasoning_content: text,
  reasoning: text,
  tool_calls: z.array(toolCallDelta).nullish(),
  /** The legacy form of a single call, the only one some servers support. */
  function_call: functionDelta.nullish(),
});

const usage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z
    .object({ cached_tokens: z.number().nullish(), cache_write_tokens: z.number().nullish() })
    .nullish(),
});

/**
 * The fields read from a streamed chunk; a whole completion of a server that does not stream is
 * read as one chunk.
 */
const completionChunkSchema = z.object({
  choices: z.array(z.object({ delta: delta.nullish(), message: delta.nullish(), finish_reason: text })).nullish(),
  usage: usage.nullish(),
});

/** One chunk of a streamed answer. */
export type CompletionChunk = z.infer<typeof completionChunkSchema>;
/** What a chunk adds to the answer. */
export type ChunkDelta = z.infer<typeof delta>;
/** What a chunk adds to a tool call. */
export type ToolCallDelta = z.infer<typeof toolCallDelta>;
/** The usage a provider reports in a chunk. */
export type ChunkUsage = z.infer<typeof usage>;

/** The answer that one stream of chunks adds up to, as the provider sent it. */
export type ModelAnswer = {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** Whether the text is why it answers nothing else. */
  readonly refused: boolean;
  /** Left out if the stream ended without a reason. */
  readonly finish: string | undefined;
  readonly usage: ChunkUsage | undefined;
};

/** Validates a chunk from the wire. */
export function parseChunk(raw: unknown): CompletionChunk {
  const parsed = completionChunkSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new ModelFailure("unavailable", `the answer is not a chat completion (${parsed.error.issues[0]?.message})`);
}

/** Whether any of the chunks carries part of the answer, not just metadata. */
export function saysSomething(chunks: readonly CompletionChunk[]): boolean {
  return chunks.some(({ choices }) => choices?.some(({ delta, message }) => isFilled(delta ?? message ?? {})));
}

/** Reads an answer to its end, yielding each piece as it arrives. */
export async function* readAnswer(
  source: AsyncIterable<readonly CompletionChunk[]>,
): AsyncGenerator<Delta, ModelAnswer> {
  const splitter = createThinkSplitter();
  const collector = createCallCollector();
  let text = "";
  let reasoning = "";
  let refusal = "";
  let finish: string | undefined;
  let usage: ChunkUsage | undefined;

  function tell(pieces: readonly ReplyPiece[]): readonly ReplyPiece[] {
    for (const piece of pieces) {
      if (piece.type === "text-delta") text += piece.text;
      else reasoning += piece.text;
    }
    return pieces;
  }

  function read(chunk: CompletionChunk): Delta[] {
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    finish = choice?.finish_reason || finish;
    const delta = choice?.delta ?? choice?.message ?? {};
    if (!delta.content) refusal += delta.refusal ?? "";
    return [
      ...tell(reasoningOf(delta)),
      ...tell(splitter.push(delta.content || delta.refusal || "")),
      ...callsOf(delta).map((call) => collector.push(call)),
    ];
  }

  for await (const chunks of source) for (const chunk of chunks) for (const delta of read(chunk)) yield delta;
  for (const delta of tell(splitter.end())) yield delta;
  const refused = refusal !== "" && refusal === text;
  return { text, reasoning, toolCalls: collector.calls(), refused, finish, usage };
}

function reasoningOf(delta: ChunkDelta): readonly ReplyPiece[] {
  const text = delta.reasoning_content ?? delta.reasoning ?? "";
  return text === "" ? [] : [{ type: "reasoning-delta", text }];
}

function callsOf({ tool_calls: calls, function_call: single }: ChunkDelta): readonly ToolCallDelta[] {
  return calls ?? (single == null ? [] : [{ index: 0, function: single }]);
}

function isFilled(delta: ChunkDelta): boolean {
  return (
    callsOf(delta).length > 0 || [delta.content, delta.refusal, delta.reasoning_content, delta.reasoning].some(Boolean)
  );
}

type CallDelta = ModelEvent & { readonly type: "tool-call-delta" };

/** Assembles the tool calls of a streamed answer. */
export interface CallCollector {
  push(delta: ToolCallDelta): CallDelta;
  /** The calls so far, in order; an id is empty if the provider sent none. */
  calls(): readonly ToolCall[];
}

/** Handles servers that leave out the index or give every call the same one. */
function createCallCollector(): CallCollector {
  const found: { index: number | undefined; id: string; name: string; arguments: string }[] = [];

  function callOf(delta: ToolCallDelta): (typeof found)[number] {
    const id = delta.id ?? "";
    const name = delta.function?.name ?? "";
    const index = delta.index ?? undefined;
    const known = index === undefined ? found.at(-1) : found.findLast((call) => call.index === index);
    const other = known !== undefined && id !== "" && known.id !== id && name !== "";
    const next = known !== undefined && index === undefined && id === "" && name !== "";
    if (known !== undefined && !other && !next) return known;
    const call = { index, id, name, arguments: "" };
    found.push(call);
    return call;
  }

  return {
    push(delta) {
      const call = callOf(delta);
      if (call.id === "") call.id = delta.id ?? "";
      if (call.name === "") call.name = delta.function?.name ?? "";
      const given = delta.function?.arguments ?? "";
      const text = typeof given === "string" ? given : JSON.stringify(given);
      call.arguments += text;
      return { type: "tool-call-delta", index: found.indexOf(call), name: call.name, arguments: text };
    },
    calls: () => found.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })),
  };
}

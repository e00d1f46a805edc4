import type { ModelEvent, ToolCall } from "../core/model.ts";
import { createCallCollector } from "./call-collector.ts";
import {
  type ChunkDelta,
  type ChunkUsage,
  type CompletionChunk,
  completionChunkSchema,
  type ToolCallDelta,
} from "./completion-chunk.ts";
import { ModelFailure } from "./model-failure.ts";
import { createThinkSplitter, type Piece } from "./think-tags.ts";

type Delta = Exclude<ModelEvent, { readonly type: "retry" | "reply" }>;

/** What one stream of chunks amounts to, as the provider gave it. */
export type Answer = {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  /** Left out: the stream ended without saying why. */
  readonly finish: string | undefined;
  readonly usage: ChunkUsage | undefined;
};

/** Checks a chunk as it came off the wire. */
export function parseChunk(raw: unknown): CompletionChunk {
  const parsed = completionChunkSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new ModelFailure("unavailable", `the answer is not a chat completion (${parsed.error.issues[0]?.message})`);
}

/** Whether a chunk carries some of the answer, rather than only its frame. */
export function saysSomething(chunk: CompletionChunk): boolean {
  return chunk.choices?.some((choice) => isFilled(choice.delta ?? choice.message ?? {})) ?? false;
}

/** Reads an answer to its end, telling each piece as it comes. */
export async function* readAnswer(chunks: AsyncIterable<CompletionChunk>): AsyncGenerator<Delta, Answer> {
  const splitter = createThinkSplitter();
  const collector = createCallCollector();
  let text = "";
  let reasoning = "";
  let finish: string | undefined;
  let usage: ChunkUsage | undefined;

  function* tell(pieces: readonly Piece[]): Generator<Delta> {
    for (const piece of pieces) {
      if (piece.type === "text-delta") text += piece.text;
      else reasoning += piece.text;
      yield piece;
    }
  }

  for await (const chunk of chunks) {
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.[0];
    finish = choice?.finish_reason || finish;
    const delta = choice?.delta ?? choice?.message ?? {};
    yield* tell(reasoningOf(delta));
    yield* tell(splitter.push(delta.content ?? delta.refusal ?? ""));
    for (const call of callsOf(delta)) yield collector.push(call);
  }
  yield* tell(splitter.end());
  return { text, reasoning, toolCalls: collector.calls(), finish, usage };
}

function reasoningOf(delta: ChunkDelta): readonly Piece[] {
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

import * as z from "zod";

const text = z.string().nullish();

const toolCallDelta = z.looseObject({
  index: z.number().nullish(),
  id: text,
  function: z.looseObject({ name: text, arguments: z.union([z.string(), z.looseObject({})]).nullish() }).nullish(),
});

const delta = z.looseObject({
  content: text,
  refusal: text,
  /** Reasoning has no standard field: the first is DeepSeek's and vLLM's, the second OpenRouter's and Ollama's. */
  reasoning_content: text,
  reasoning: text,
  tool_calls: z.array(toolCallDelta).nullish(),
});

const usage = z.looseObject({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.number().nullish() }).nullish(),
});

/** What is read of a streamed chunk; a whole completion of a server that does not stream is read as one chunk. */
export const completionChunkSchema = z.looseObject({
  choices: z.array(z.looseObject({ delta: delta.nullish(), message: delta.nullish(), finish_reason: text })).nullish(),
  usage: usage.nullish(),
});

export type CompletionChunk = z.infer<typeof completionChunkSchema>;
export type ChunkDelta = z.infer<typeof delta>;
export type ToolCallDelta = z.infer<typeof toolCallDelta>;
export type ChunkUsage = z.infer<typeof usage>;

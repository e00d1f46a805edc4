import * as z from "zod";

const text = z.string().nullish();

const functionDelta = z.looseObject({ name: text, arguments: z.union([z.string(), z.looseObject({})]).nullish() });

const toolCallDelta = z.looseObject({ index: z.number().nullish(), id: text, function: functionDelta.nullish() });

/** Some servers answer in parts, as requests may be written; those that are not text say nothing to the user. */
const content = z.union([
  z.string(),
  z.array(z.looseObject({ text })).transform((parts) => parts.map((part) => part.text ?? "").join("")),
]);

const delta = z.looseObject({
  content: content.nullish(),
  refusal: text,
  /** Reasoning has no standard field: the first is DeepSeek's and vLLM's, the second OpenRouter's and Ollama's. */
  reasoning_content: text,
  reasoning: text,
  tool_calls: z.array(toolCallDelta).nullish(),
  /** How calls were made before there were several of them; some servers know nothing else. */
  function_call: functionDelta.nullish(),
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

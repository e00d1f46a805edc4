import type { AgentInput } from "manyhands/internal/core/runs/task";
import * as z from "zod";

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const imagePart = z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string().min(1) }) });
const filePart = z.looseObject({
  type: z.literal("file"),
  file: z.looseObject({ filename: z.string().min(1).max(255).optional(), file_data: z.string().min(1) }),
});
const part = z.discriminatedUnion("type", [textPart, imagePart, filePart]);

/** A message of a chat: who said it, and what. */
export const chatMessage = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(part)]).nullish(),
});

/** A message of a chat, checked. */
export type ChatMessage = z.output<typeof chatMessage>;

const responseFormat = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text") }),
  z.looseObject({ type: z.literal("json_object") }),
  z.looseObject({
    type: z.literal("json_schema"),
    json_schema: z.looseObject({ schema: z.record(z.string(), z.json()) }),
  }),
]);

const ownTools = "Flows and agents use their own tools and never call yours: leave this out";

/** A list that must be empty. Otherwise a client would wait for calls that never come. */
const none = z.array(z.unknown()).max(0, ownTools).nullish();

/**
 * A request of the chat completions API: the fields that flows and agents use; others are ignored.
 */
export const chatRequest = z.looseObject({
  model: z.string().min(1).max(200),
  messages: z.array(chatMessage).min(1).max(2000),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  n: z.literal(1).nullish(),
  tools: none,
  functions: none,
  response_format: responseFormat.nullish(),
});

/** A request, checked. */
export type ChatRequest = z.output<typeof chatRequest>;

/** The text of a message, one line per part. */
export function messageText({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap((one) => (one.type === "text" ? [one.text] : [])).join("\n");
}

/** The JSON Schema for the answer, if the client requests JSON. */
export function outputSchemaOf({ response_format: format }: ChatRequest): AgentInput["outputSchema"] {
  if (format?.type === "json_schema") return format.json_schema.schema;
  return format?.type === "json_object" ? { type: "object" } : undefined;
}

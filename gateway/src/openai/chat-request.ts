import type { AgentInput } from "manyhands/internal/core/task";
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

const ownTools = "A flow or agent works with tools of its own and calls none of its caller's: leave this out.";

/** A list that has to be empty. Left alone, a client would wait for calls that never come. */
const none = z.array(z.unknown()).max(0, ownTools).nullish();

/**
 * A request of the chat completions API, as far as a flow or agent heeds it; what else a client
 * sends is left alone.
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

/** The text of a message, its parts one a line. */
export function messageText({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).flatMap((one) => (one.type === "text" ? [one.text] : [])).join("\n");
}

/** The JSON Schema that the answer has to fit, where the client wants JSON. */
export function outputSchemaOf({ response_format: format }: ChatRequest): AgentInput["outputSchema"] {
  if (format?.type === "json_schema") return format.json_schema.schema;
  return format?.type === "json_object" ? { type: "object" } : undefined;
}

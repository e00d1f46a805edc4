import * as z from "zod";

const contentPart = z.looseObject({ type: z.string(), text: z.string().optional() });

const toolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().optional(),
});

/** Checks what our servers use of a chat completion request, and keeps the rest as it came. */
export const chatRequestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
  tool_choice: z.union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }) })]).nullish(),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
});

/** A chat completion request; fields that our servers do not use are kept as they came. */
export type ChatRequest = z.infer<typeof chatRequestSchema>;
/** One message of a request. */
export type ChatMessage = ChatRequest["messages"][number];

/** The text of a message, whichever of the protocol's two content shapes it has. */
export function chatText({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("\n");
}

/** Usage as a chat completions server reports it. */
export type WireUsage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
};

/** An answer to a chat completion request. */
export type ChatAnswer = {
  readonly text?: string;
  readonly reasoning?: string;
  /** What a model says in place of an answer that it refuses. */
  readonly refusal?: string;
  readonly calls?: readonly ChatCall[];
  /** Left out: no usage is reported, as by servers that count no tokens. */
  readonly usage?: WireUsage;
  /** Left out: `tool_calls` if there are calls, else `stop`. */
  readonly finish?: string;
};

/** A tool call in an answer. `rawArguments` is sent as is, `args` as JSON. */
export type ChatCall = {
  readonly id?: string;
  readonly name: string;
  readonly args?: unknown;
  readonly rawArguments?: string;
};

/**
 * The `choices[0].delta` objects of a streamed answer, a word each, the first with the role; joined
 * they give the answer exactly.
 */
export function deltasOf(answer: ChatAnswer): readonly object[] {
  const calls = answer.calls ?? [];
  const deltas = [
    ...words(answer.reasoning ?? "").map((word) => ({ reasoning_content: word })),
    ...words(answer.text ?? "").map((word) => ({ content: word })),
    ...words(answer.refusal ?? "").map((word) => ({ refusal: word })),
    ...calls.flatMap((call, index) => [
      { tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] },
      ...words(argumentsOf(call)).map((word) => ({ tool_calls: [{ index, function: { arguments: word } }] })),
    ]),
  ];
  const [first = { content: "" }, ...rest] = deltas;
  return [{ role: "assistant", ...first }, ...rest];
}

/** The same answer as the `message` of a completion that is not streamed. */
export function messageOf(answer: ChatAnswer): object {
  const calls = answer.calls ?? [];
  return {
    role: "assistant",
    content: answer.text ?? null,
    ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
    ...(answer.refusal === undefined ? {} : { refusal: answer.refusal }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: argumentsOf(call) },
          })),
        }),
  };
}

/** The `finish_reason` of an answer. */
export function finishOf({ finish, calls }: ChatAnswer): string {
  return finish ?? (calls !== undefined && calls.length > 0 ? "tool_calls" : "stop");
}

function argumentsOf(call: ChatCall): string {
  return call.rawArguments ?? JSON.stringify(call.args ?? {});
}

function words(text: string): readonly string[] {
  return text.match(/\s*\S{1,24}|\s+/g) ?? [];
}

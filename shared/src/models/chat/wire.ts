import type OpenAI from "openai";
import type {
  ImagePart,
  JsonSchema,
  ModelMessage,
  ModelRequest,
  TextPart,
  ToolCall,
  ToolSpec,
} from "../../core/model.ts";
import { wellFormed } from "../../core/text/well-formed.ts";
import { isCompleteObject, parseArguments } from "../arguments.ts";
import type { Traits } from "../capabilities.ts";
import type { ModelConfig } from "../config.ts";

type Chat = OpenAI.Chat.Completions.ChatCompletionCreateParams;
type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type ContentPart = OpenAI.Chat.Completions.ChatCompletionContentPart;

/**
 * A request as chat completion parameters. What the model cannot take (images, a temperature) is
 * left out or replaced by text.
 */
export function chatParams(request: ModelRequest, config: ModelConfig, traits: Traits): Chat {
  const temperature = request.temperature ?? config.temperature;
  const maxTokens = request.maxOutputTokens ?? config.maxOutputTokens;
  return {
    model: config.name,
    stream: traits.stream,
    ...(traits.stream && traits.streamUsage ? { stream_options: { include_usage: true } } : {}),
    messages: chatMessages(request.messages, traits),
    ...(temperature !== undefined && traits.temperature ? { temperature } : {}),
    ...(maxTokens === undefined ? {} : { [traits.maxTokensParameter]: maxTokens }),
    ...(config.reasoningEffort === undefined ? {} : { reasoning_effort: config.reasoningEffort }),
    ...toolParams(request, traits),
    ...(request.answerSchema !== undefined && traits.answerSchema
      ? { response_format: answerFormat(request.answerSchema) }
      : {}),
  };
}

function answerFormat(schema: JsonSchema) {
  return { type: "json_schema", json_schema: { name: "answer", schema } } as const;
}

/**
 * The same as JSON. What a conversation sent before is not written again: each turn sends nearly
 * all of it once more.
 */
export function chatBody(request: ModelRequest, config: ModelConfig, traits: Traits): string {
  const { messages: _, tools, ...rest } = chatParams({ ...request, messages: [] }, config, traits);
  const toolsText = tools === undefined ? "" : `,"tools":[${request.tools.map(toolText).join()}]`;
  // Only concatenated: a `join` would copy the whole conversation once more than sending it does.
  return `${JSON.stringify(wellFormed(rest)).slice(0, -1)},"messages":[${messagesText(request.messages, traits)}]${toolsText}}`;
}

/** The text of a conversation's first messages, `count` of them. */
type SentText = {
  readonly traits: Traits;
  readonly messages: readonly ModelMessage[];
  readonly count: number;
  readonly text: string;
};

/** By the first message after the instructions, which tasks share. */
const sent = new WeakMap<ModelMessage, SentText>();

function messagesText(messages: readonly ModelMessage[], traits: Traits): string {
  const key = messages[1] ?? messages[0];
  if (key === undefined) return "";
  const known = knownText(messages, traits, sent.get(key));
  // What a turn's results look like on the wire is settled once an answer follows them.
  const count = Math.max(
    known.count,
    messages.findLastIndex(({ role }) => role === "assistant"),
  );
  const text = joined(known.text, chatMessages(messages.slice(known.count, count), traits));
  sent.set(key, { traits, messages, count, text });
  return joined(text, chatMessages(messages.slice(count), traits));
}

function knownText(
  messages: readonly ModelMessage[],
  traits: Traits,
  known: SentText | undefined,
): Pick<SentText, "count" | "text"> {
  const none = { count: 0, text: "" };
  if (known === undefined || known.traits !== traits) return none;
  for (let at = 0; at < known.count; at++) if (messages[at] !== known.messages[at]) return none;
  return known;
}

function joined(text: string, more: readonly ChatMessage[]): string {
  const texts = more.map((message) => JSON.stringify(wellFormed(message))).join();
  return text === "" || texts === "" ? text + texts : `${text},${texts}`;
}

const toolTexts = new WeakMap<ToolSpec, string>();

function toolText(tool: ToolSpec): string {
  const known = toolTexts.get(tool);
  if (known !== undefined) return known;
  const text = JSON.stringify(wellFormed(chatTool(tool)));
  toolTexts.set(tool, text);
  return text;
}

function toolParams({ tools, toolChoice }: ModelRequest, traits: Traits): Partial<Chat> {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(chatTool),
    // Every server defaults to `auto`, and some refuse the parameter.
    ...(toolChoice === "auto" || (!traits.forcedTools && toolChoice !== "none")
      ? {}
      : { tool_choice: chatToolChoice(toolChoice) }),
    ...(traits.parallelToolCalls ? {} : { parallel_tool_calls: false }),
  };
}

function chatTool({ name, description, inputSchema }: ToolSpec): OpenAI.Chat.Completions.ChatCompletionTool {
  // Some servers validate the schema's keywords and reject this one.
  const { $schema: _, ...parameters } = inputSchema;
  return { type: "function", function: { name, description, parameters } };
}

function chatToolChoice(choice: ModelRequest["toolChoice"]): OpenAI.Chat.Completions.ChatCompletionToolChoiceOption {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
}

function chatMessages(messages: readonly ModelMessage[], traits: Traits): ChatMessage[] {
  const wire: ChatMessage[] = [];
  let images: ContentPart[] = [];
  const flushImages = () => {
    if (images.length > 0) wire.push({ role: "user", content: images });
    images = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") flushImages();
    wire.push(chatMessage(message, traits));
    // A tool message carries only text, and nothing may come between the results of one turn:
    // images follow them.
    if (message.role === "tool") images.push(...toolImages(message, traits));
  }
  flushImages();
  return wire;
}

function chatMessage(message: ModelMessage, traits: Traits): ChatMessage {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user":
      return { role: "user", content: userContent(message.parts, traits) };
    case "assistant":
      if (message.toolCalls.length === 0) return { role: "assistant", content: message.text };
      return {
        role: "assistant",
        content: message.text === "" ? null : message.text,
        tool_calls: message.toolCalls.map(chatCall),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: resultText(message) };
  }
}

/**
 * A tool's result as text. The protocol has no field for failures, so a line before the output says
 * it.
 */
export function resultText({ text, isError }: { readonly text: string; readonly isError: boolean }): string {
  if (!isError || /^error\b/i.test(text)) return text;
  return text.includes("\n") ? `Error:\n${text}` : `Error: ${text}`;
}

function userContent(parts: readonly (TextPart | ImagePart)[], traits: Traits): string | ContentPart[] {
  // Plain text is sent as a string: many servers of small models support nothing else.
  if (!traits.vision || parts.every((part) => part.type === "text")) {
    return parts.map((part) => (part.type === "text" ? part.text : unseenImage)).join("\n");
  }
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : imagePart(part, traits)));
}

function toolImages(message: ModelMessage & { role: "tool" }, traits: Traits): ContentPart[] {
  const images = message.images ?? [];
  if (images.length === 0) return [];
  if (!traits.vision) return [{ type: "text", text: `${message.name}: ${unseenImage}` }];
  return [
    { type: "text", text: `Images from ${message.name} (${message.callId}):` },
    ...images.map((image) => imagePart(image, traits)),
  ];
}

/** Stands for an image where the model takes text only. */
export const unseenImage = "[an image was here; this model cannot see images]";

function imagePart({ mediaType, data }: ImagePart, { imageDetail }: Traits): ContentPart {
  const detail = imageDetail === "auto" ? {} : { detail: imageDetail };
  return { type: "image_url", image_url: { url: `data:${mediaType};base64,${data}`, ...detail } };
}

/**
 * Several servers refuse a conversation in which an earlier call's arguments are not JSON, so
 * invalid JSON is repaired or quoted.
 */
function chatCall(call: ToolCall): OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall {
  return { id: call.id, type: "function", function: { name: call.name, arguments: validArguments(call.arguments) } };
}

function validArguments(text: string): string {
  // As an escape within this text, half of a surrogate pair is hidden from who writes the request.
  if (isCompleteObject(text) && !/\\ud[89a-f]/i.test(text)) return text;
  const parsed = parseArguments(text);
  return JSON.stringify(wellFormed(parsed.ok ? parsed.value : { unreadable: text }));
}

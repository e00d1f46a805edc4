import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ImagePart, ModelMessage, ModelRequest, TextPart } from "../../core/model.ts";
import { wellFormed } from "../../core/text/well-formed.ts";
import { parseArguments } from "../arguments.ts";
import type { Traits } from "../capabilities.ts";
import { resultText, unseenImage } from "../chat/wire.ts";
import type { CarriedPart } from "./read-parts.ts";

/** What decides how a conversation is written for a provider. */
export type PromptStyle = Pick<Traits, "vision" | "cacheMarks" | "imageDetail"> & {
  /** Whose `carried` parts are sent back. */
  readonly of: string;
};

type AssistantPart = LanguageModelV4TextPart | LanguageModelV4ReasoningPart | LanguageModelV4ToolCallPart;

/** The end of what a provider may cache, in the two dialects that have marks for it. */
const cacheEnd: SharedV4ProviderOptions = {
  anthropic: { cacheControl: { type: "ephemeral" } },
  amazonBedrock: { cachePoint: { type: "default" } },
};

/**
 * A conversation for a provider's SDK: the results of a turn together, an answer's signed thinking
 * in its place, and marks where what stays the same ends.
 */
export function toPrompt(
  { messages, stableMessages }: Pick<ModelRequest, "messages" | "stableMessages">,
  style: PromptStyle,
): LanguageModelV4Prompt {
  const marks = style.cacheMarks ? marksIn(messages, stableMessages) : new Set<number>();
  const prompt: LanguageModelV4Message[] = [];
  for (const [at, message] of messages.entries()) {
    const written = writtenOnce(message, style);
    const last = prompt.at(-1);
    // Providers want the results of one turn in one message.
    const joined =
      written.role === "tool" && last?.role === "tool"
        ? { ...last, content: [...last.content, ...written.content] }
        : written;
    if (joined !== written) prompt.pop();
    prompt.push(marks.has(at) ? { ...joined, providerOptions: cacheEnd } : joined);
  }
  return prompt;
}

/**
 * Where marks go: after the instructions, after what the next request begins with, and after what
 * this one shares with the last, so that a turn of many results finds it.
 */
function marksIn(messages: readonly ModelMessage[], stable: number | undefined): ReadonlySet<number> {
  if (stable === undefined) return new Set();
  const instructions = messages.findLastIndex(({ role }, at) => role === "system" && at < stable);
  const shared = messages.slice(0, stable).findLastIndex(({ role }) => role === "assistant") - 1;
  return new Set([instructions, shared, stable - 1].filter((at) => at >= 0));
}

type Written = { readonly style: string; readonly message: LanguageModelV4Message };

/** What was written last of each message: those of earlier turns are the same objects again. */
const lastWritten = new WeakMap<ModelMessage, Written>();

/** The message as it was written in an earlier turn, if it was, and in the same style. */
function writtenOnce(message: ModelMessage, style: PromptStyle): LanguageModelV4Message {
  const key = `${style.of} ${style.vision} ${style.imageDetail}`;
  const known = lastWritten.get(message);
  if (known?.style === key) return known.message;
  const written = { style: key, message: wellFormed(messageFor(message, style)) };
  lastWritten.set(message, written);
  return written.message;
}

function messageFor(message: ModelMessage, style: PromptStyle): LanguageModelV4Message {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.text };
    case "user":
      return { role: "user", content: userParts(message.parts, style) };
    case "assistant":
      return { role: "assistant", content: assistantParts(message, style.of) };
    case "tool":
      return { role: "tool", content: [resultPart(message, style)] };
  }
}

/** Stands for a message without content, which several providers refuse. */
const nothing = "(nothing)";

function userParts(
  parts: readonly (TextPart | ImagePart)[],
  style: PromptStyle,
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  const written = parts.flatMap((part): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] => {
    if (part.type === "image") return [style.vision ? filePart(part, style) : { type: "text", text: unseenImage }];
    return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  });
  return written.length > 0 ? written : [{ type: "text", text: nothing }];
}

function filePart({ mediaType, data }: ImagePart, { imageDetail }: PromptStyle): LanguageModelV4FilePart {
  const isTold = imageDetail !== "auto";
  return {
    type: "file",
    mediaType,
    data: { type: "data", data },
    ...(isTold && { providerOptions: { openai: { imageDetail } } }),
  };
}

function assistantParts(message: ModelMessage & { role: "assistant" }, of: string): AssistantPart[] {
  const parts =
    message.carried?.of === of ? inOrder(message, message.carried.parts as readonly CarriedPart[]) : undefined;
  const written = parts ?? [...textParts(message.text), ...message.toolCalls.map((call) => callPart(call))];
  return written.length > 0 ? written : [{ type: "text", text: nothing }];
}

/** An answer as its provider gave it; undefined if what was carried does not fit it. */
function inOrder(
  { text, toolCalls }: ModelMessage & { role: "assistant" },
  carried: readonly CarriedPart[],
): AssistantPart[] | undefined {
  let told = 0;
  const calls = [...toolCalls];
  const parts = carried.flatMap((part): AssistantPart[] => {
    const options = part.options === undefined ? {} : { providerOptions: part.options };
    if (part.type === "reasoning") return [{ type: "reasoning", text: part.text, ...options }];
    if (part.type === "call") {
      const call = calls.shift();
      return call === undefined ? [] : [{ ...callPart(call), ...options }];
    }
    const piece = text.slice(told, told + part.length);
    told += part.length;
    return piece.trim() === "" && part.options === undefined ? [] : [{ type: "text", text: piece, ...options }];
  });
  return calls.length === 0 && told === text.length ? parts : undefined;
}

function textParts(text: string): AssistantPart[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function callPart({
  id,
  name,
  arguments: text,
}: {
  id: string;
  name: string;
  arguments: string;
}): LanguageModelV4ToolCallPart {
  const parsed = parseArguments(text);
  return {
    type: "tool-call",
    toolCallId: validId(id),
    toolName: name,
    input: parsed.ok ? parsed.value : { unreadable: text },
  };
}

function resultPart(message: ModelMessage & { role: "tool" }, style: PromptStyle): LanguageModelV4ToolResultPart {
  const { callId, name, isError, images = [] } = message;
  const unseen = images.length > 0 && !style.vision ? `\n${unseenImage}` : "";
  const value = `${resultText(message)}${unseen}` || nothing;
  const seen = style.vision ? images : [];
  return {
    type: "tool-result",
    toolCallId: validId(callId),
    toolName: name,
    output:
      seen.length > 0
        ? { type: "content", value: [{ type: "text", text: value }, ...seen.map((image) => filePart(image, style))] }
        : { type: isError ? "error-text" : "text", value },
  };
}

/** Ids that another provider gave may have characters that this one refuses. */
function validId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

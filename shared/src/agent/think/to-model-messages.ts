import type { Part } from "../../core/message.ts";
import type { ImagePart, ModelMessage, TextPart, ToolCall } from "../../core/model.ts";
import { isAgentNotes, maxNotesBytes, presentAgentNotes } from "../../core/text/agent-notes.ts";
import type { ArtifactStore, StoredFile } from "../../core/workspace.ts";
import type { OpenView, SeenObservation, TaskMessage } from "../task/agent-state.ts";

/** Whether the model sees images, and where they are. */
export type ConversionOptions = { readonly vision: boolean; readonly artifacts: ArtifactStore };

/**
 * The conversation as a model reads it: every call followed by exactly one result, files by name,
 * images inlined if the model can see them, an observation with the result it follows.
 */
export async function toModelMessages(
  messages: readonly TaskMessage[],
  options: ConversionOptions,
): Promise<ModelMessage[]> {
  const converted: ModelMessage[] = [];
  await extendModelMessages(converted, messages, options);
  return converted;
}

/**
 * The same for messages that continue those already converted. The later ones start with a new
 * turn, or with the observation that follows the newest result.
 */
export async function extendModelMessages(
  converted: ModelMessage[],
  later: readonly TaskMessage[],
  options: ConversionOptions,
): Promise<void> {
  for (const message of pairSafe(later)) {
    if (message.role === "observation") await addObservation(converted, message, options);
    else converted.push(await convert(message, options));
  }
}

async function addObservation(
  converted: ModelMessage[],
  message: SeenObservation,
  options: ConversionOptions,
): Promise<void> {
  const { text } = message;
  const images = await imagesOf(message, options);
  if (text === "" && images.length === 0) return;
  const last = converted.at(-1);
  if (last?.role !== "tool") {
    converted.push({ role: "user", parts: [{ type: "text", text }, ...images] });
    return;
  }
  const all = [...(last.images ?? []), ...images];
  converted[converted.length - 1] = {
    ...last,
    text: `${last.text}\n\n${text}`,
    ...(all.length > 0 && { images: all }),
  };
}

async function convert(
  message: Exclude<TaskMessage, SeenObservation>,
  options: ConversionOptions,
): Promise<ModelMessage> {
  switch (message.role) {
    case "summary":
      return { role: "user", parts: [{ type: "text", text: `Summary of the work so far:\n${message.text}` }] };
    case "assistant": {
      const { text, toolCalls, carried } = message;
      return { role: "assistant", text, toolCalls: toolCalls.map(withValidName), ...(carried && { carried }) };
    }
    case "tool": {
      const { callId, name, isError } = message;
      const unseen = message.images !== undefined && !options.vision;
      const images = await imagesOf(message, options);
      return {
        role: "tool",
        callId,
        name,
        text: unseen ? message.text + blind : message.text,
        isError,
        ...(images.length > 0 && { images }),
      };
    }
    case "user":
      return { role: "user", parts: await partsOf(message.parts, options) };
  }
}

/**
 * Makes a tool's name valid: models sometimes make up invalid names, and providers refuse a
 * conversation that contains one.
 */
function withValidName({ id, name, arguments: text }: ToolCall): ToolCall {
  return { id, name: name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed", arguments: text };
}

/** The parts of a message; an image that is in it under several names is shown once. */
async function partsOf(parts: readonly Part[], options: ConversionOptions): Promise<(TextPart | ImagePart)[]> {
  const shown = new Set<string>();
  const converted = parts.map((part) => {
    const isAgain = part.type === "file" && shown.has(part.sha256);
    if (part.type === "file") shown.add(part.sha256);
    return userParts(part, isAgain ? { ...options, vision: false } : options);
  });
  return (await Promise.all(converted)).flat();
}

/** An image the model sees is also named, since tools can open it only by name. */
async function userParts(part: Part, options: ConversionOptions): Promise<(TextPart | ImagePart)[]> {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "data":
      return [{ type: "text", text: `Data:\n${JSON.stringify(part.data)}` }];
    case "url":
      return [{ type: "text", text: `[file ${part.name === undefined ? "" : `${part.name} `}at ${part.url}]` }];
    case "file": {
      const text = `[file in the workspace: ${part.name}, ${part.mediaType}, ${part.size} bytes]`;
      const seen = await image(part, options);
      const notes = await notesOf(part, options);
      return [{ type: "text", text: text + notes }, ...(seen === undefined ? [] : [seen])];
    }
  }
}

/**
 * What an `AGENTS.md` that was sent says: content of a file, as the sources of its message tell.
 */
async function notesOf(file: StoredFile, { artifacts }: ConversionOptions): Promise<string> {
  if (!isAgentNotes(file.name)) return "";
  const content = await artifacts.get(file.sha256);
  return content === undefined ? "" : presentAgentNotes(file.name, await content.slice(0, maxNotesBytes).text());
}

/** Without this, a text-only model would assume, and claim, that it had looked. */
const blind = "\n[The image is not shown to you: the model in use takes text only.]";

async function imagesOf({ images = [] }: OpenView["message"], options: ConversionOptions): Promise<ImagePart[]> {
  const found = await Promise.all(images.map((file) => image(file, options)));
  return found.filter((part) => part !== undefined);
}

async function image(file: StoredFile, { vision, artifacts }: ConversionOptions): Promise<ImagePart | undefined> {
  if (!vision || !/^image\/(png|jpeg|gif|webp)$/.test(file.mediaType)) return undefined;
  const content = await artifacts.get(file.sha256);
  if (content === undefined) return undefined;
  const data = Buffer.from(await content.arrayBuffer()).toString("base64");
  return { type: "image", mediaType: file.mediaType, data };
}

/**
 * The same conversation in a shape every provider accepts: each call has exactly one result, right
 * after the message that requested it, and no result is without its call. A call without a result
 * (it was canceled, or its result was cut) gets one that says so.
 */
export function pairSafe(messages: readonly TaskMessage[]): TaskMessage[] {
  const safe: TaskMessage[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at];
    if (message === undefined || message.role === "tool") continue;
    safe.push(message);
    if (message.role !== "assistant" || message.toolCalls.length === 0) continue;
    const results = resultsAfter(messages, at);
    for (const call of message.toolCalls) {
      const missing = {
        role: "tool",
        callId: call.id,
        name: call.name,
        text: "(no result: the call was canceled)",
        isError: true,
      } as const;
      safe.push(results.get(call.id) ?? missing);
    }
  }
  return safe;
}

function resultsAfter(messages: readonly TaskMessage[], at: number): Map<string, TaskMessage> {
  const results = new Map<string, TaskMessage>();
  for (let next = at + 1; next < messages.length; next++) {
    const message = messages[next];
    if (message === undefined || message.role === "assistant") break;
    if (message.role === "tool" && !results.has(message.callId)) results.set(message.callId, message);
  }
  return results;
}

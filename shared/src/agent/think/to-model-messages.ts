import type { Part } from "../../core/message.ts";
import type { ImagePart, ModelMessage, TextPart, ToolCall } from "../../core/model.ts";
import type { Observation } from "../../core/tool.ts";
import type { ArtifactStore, StoredFile } from "../../core/workspace.ts";
import type { TaskMessage } from "../task/agent-state.ts";

type Options = { readonly vision: boolean; readonly artifacts: ArtifactStore };

/** What goes at the end of one prompt only. */
type Tail = Options & { readonly hints: readonly string[]; readonly observation?: Observation | undefined };

/**
 * The conversation as a model reads it: every call followed by exactly one result, files by name,
 * the user's images inlined if the model can see them.
 */
export async function toModelMessages(messages: readonly TaskMessage[], options: Options): Promise<ModelMessage[]> {
  return Promise.all(pairSafe(messages).map((message) => convert(message, options)));
}

async function convert(message: TaskMessage, options: Options): Promise<ModelMessage> {
  switch (message.role) {
    case "summary":
      return { role: "user", parts: [{ type: "text", text: `Summary of the work so far:\n${message.text}` }] };
    case "assistant":
      return { role: "assistant", text: message.text, toolCalls: message.toolCalls.map(withValidName) };
    case "tool": {
      const { callId, name, isError } = message;
      const unseen = message.images !== undefined && !options.vision;
      return { role: "tool", callId, name, text: unseen ? message.text + blind : message.text, isError };
    }
    case "user":
      return { role: "user", parts: (await Promise.all(message.parts.map((part) => userParts(part, options)))).flat() };
  }
}

/**
 * Makes a tool's name valid: models sometimes make up invalid names, and providers refuse a
 * conversation that contains one.
 */
function withValidName({ id, name, arguments: text }: ToolCall): ToolCall {
  return { id, name: name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed", arguments: text };
}

/** An image the model sees is also named, since tools can open it only by name. */
async function userParts(part: Part, options: Options): Promise<(TextPart | ImagePart)[]> {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "data":
      return [{ type: "text", text: `Data:\n${JSON.stringify(part.data)}` }];
    case "url":
      return [{ type: "text", text: `[file ${part.name ?? ""} at ${part.url}]` }];
    case "file": {
      const text = `[file in the workspace: ${part.name}, ${part.mediaType}, ${part.size} bytes]`;
      const seen = await image(part, options);
      return seen === undefined ? [{ type: "text", text }] : [{ type: "text", text }, seen];
    }
  }
}

/** Without this, a text-only model would assume, and claim, that it had looked. */
const blind = "\n[The image is not shown to you: the model in use takes text only.]";

/**
 * For how many turns the newest image is shown: each turn pays for it again, and by then the model
 * has described what matters in it.
 */
const turnsShown = 5;

/**
 * The end of one prompt, after its stable prefix: the observation, the hints, and for some turns
 * the newest image from a tool. Undefined if there is nothing to show.
 */
export async function tailMessage(messages: readonly TaskMessage[], options: Tail): Promise<ModelMessage | undefined> {
  const at = messages.findLastIndex((message) => message.role === "tool" && message.images !== undefined);
  const turnsSince = messages.slice(at + 1).filter(({ role }) => role === "assistant").length;
  const newest = turnsSince < turnsShown ? messages[at] : undefined;
  const files = newest?.role === "tool" ? (newest.images ?? []) : [];
  const images = (await Promise.all(files.map((file) => image(file, options)))).filter((part) => part !== undefined);
  const { observation, vision } = options;
  const parts: (TextPart | ImagePart)[] = observation === undefined ? [] : [{ type: "text", text: observation.text }];
  if (vision) parts.push(...(observation?.images ?? []));
  parts.push(...options.hints.map((text) => ({ type: "text", text }) as const));
  if (images.length > 0)
    parts.push({ type: "text", text: `The newest image from ${newest?.role === "tool" ? newest.name : "a tool"}:` });
  parts.push(...images);
  return parts.length === 0 ? undefined : { role: "user", parts };
}

async function image(file: StoredFile, { vision, artifacts }: Options): Promise<ImagePart | undefined> {
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

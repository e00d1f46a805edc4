import { AppError } from "manyhands/internal/core/errors";
import type { IncomingPart } from "manyhands/internal/core/message";
import { foreignTask, type TakenIn } from "manyhands/internal/core/taken-in";
import { type ChatMessage, messageText } from "./chat-request.ts";

/**
 * The parts of a run's message: the newest message of the chat and, for a run that does not know
 * the chat yet, the messages before it.
 */
export function chatParts(messages: readonly ChatMessage[], knowsChat: boolean): IncomingPart[] {
  const newest = messages.findLast(({ role }) => role === "user");
  if (newest === undefined) throw new AppError("invalid_input", "messages: there is no user message to answer.");
  const earlier = knowsChat ? [] : messages.slice(0, messages.indexOf(newest)).filter((one) => messageText(one) !== "");
  const text = [...preface(earlier), messageText(newest)].join("\n");
  const parts: IncomingPart[] = text === "" ? [] : [{ type: "text", text }];
  if (typeof newest.content === "string") return parts;
  for (const part of newest.content ?? []) {
    if (part.type === "image_url") parts.push(fileOf(part.image_url.url, "image"));
    if (part.type === "file") parts.push(fileOf(part.file.file_data, part.file.filename ?? "file"));
  }
  return parts;
}

/**
 * Sources of what such a run is told: assistants and tools elsewhere say what they have read, and
 * that is not the caller's word.
 */
export function chatSources(messages: readonly ChatMessage[], knowsChat: boolean): TakenIn {
  const earlier = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === "user"),
  );
  const isForeign = (one: ChatMessage) => ["assistant", "tool"].includes(one.role) && messageText(one) !== "";
  return !knowsChat && earlier.some(isForeign) ? [foreignTask] : [];
}

function preface(earlier: readonly ChatMessage[]): string[] {
  if (earlier.length === 0) return [];
  const said = earlier.map((message) => `${message.role}: ${messageText(message)}`);
  return ["What was said before:", ...said, "", "Now:"];
}

function fileOf(source: string, name: string): IncomingPart {
  const data = /^data:([^;,]+)?(?:;[^,]*?)?;base64,(.*)$/s.exec(source);
  if (data !== null) {
    const [, mediaType = "application/octet-stream", bytes = ""] = data;
    const extension = name.includes(".") ? "" : `.${mediaType.split("/")[1]?.replace(/\W.*$/, "") ?? "bin"}`;
    return { type: "bytes", bytes: bytesOf(bytes), name: `${name}${extension}`, mediaType };
  }
  const url = URL.parse(source);
  if (url?.protocol === "http:" || url?.protocol === "https:") return { type: "url", url: url.href };
  throw new AppError("invalid_input", "messages: a file must be a base64 data URL or an http(s) URL.");
}

/** Buffer would take what it can read, up to nothing at all. */
function bytesOf(content: string): Buffer {
  const text = content.replaceAll(/%3d/gi, "=").replaceAll(/%2b/gi, "+").replaceAll(/%2f/gi, "/").replaceAll(/\s/g, "");
  const digits = /^([A-Za-z0-9+/_-]*)={0,2}$/.exec(text)?.[1];
  if (digits === undefined || digits.length % 4 === 1)
    throw new AppError("invalid_input", "messages: the base64 of a data URL is not valid.");
  return Buffer.from(digits, "base64");
}

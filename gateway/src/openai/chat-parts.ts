import { AppError } from "manyhands/internal/core/errors";
import type { Part } from "manyhands/internal/core/message";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { type ChatMessage, messageText } from "./chat-request.ts";

/**
 * The parts of a run's message: the newest message of the chat and, for a run that does not know
 * the chat yet, the messages before it.
 */
export async function chatParts(
  messages: readonly ChatMessage[],
  knowsChat: boolean,
  artifacts: ArtifactStore,
): Promise<Part[]> {
  const newest = messages.findLast(({ role }) => role === "user");
  if (newest === undefined) throw new AppError("invalid_input", "messages: there is no user message to answer.");
  const earlier = knowsChat ? [] : messages.slice(0, messages.indexOf(newest)).filter((one) => messageText(one) !== "");
  const parts: Part[] = [{ type: "text", text: [...preface(earlier), messageText(newest)].join("\n") }];
  if (typeof newest.content === "string") return parts;
  for (const part of newest.content ?? []) {
    if (part.type === "image_url") parts.push(await fileOf(part.image_url.url, "image", artifacts));
    if (part.type === "file") parts.push(await fileOf(part.file.file_data, part.file.filename ?? "file", artifacts));
  }
  return parts;
}

function preface(earlier: readonly ChatMessage[]): string[] {
  if (earlier.length === 0) return [];
  const said = earlier.map((message) => `${message.role}: ${messageText(message)}`);
  return ["What was said before:", ...said, "", "Now:"];
}

async function fileOf(source: string, name: string, artifacts: ArtifactStore): Promise<Part> {
  const data = /^data:([^;,]+)?(?:;[^,]*?)?;base64,(.*)$/s.exec(source);
  if (data !== null) {
    const [, mediaType = "application/octet-stream", bytes = ""] = data;
    const extension = name.includes(".") ? "" : `.${mediaType.split("/")[1]?.replace(/\W.*$/, "") ?? "bin"}`;
    const about = { name: `${name}${extension}`, mediaType };
    return { type: "file", ...(await artifacts.put(Buffer.from(bytes, "base64"), about)) };
  }
  const url = URL.parse(source);
  if (url?.protocol === "http:" || url?.protocol === "https:") return { type: "url", url: url.href };
  throw new AppError("invalid_input", "messages: a file must be a base64 data URL or an http(s) URL.");
}

import type { Part, UserMessage } from "manyhands/internal/core/message";
import { type FlowSettings, settingsMetadata } from "manyhands/internal/core/task";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import type { Said } from "./run-schemas.ts";

/** What a caller said, as a message of the journal: files are in the store, known by their hash. */
export async function userMessage(
  messageId: string,
  said: Said,
  settings: FlowSettings,
  artifacts: ArtifactStore,
): Promise<UserMessage> {
  const { text, data, files = [] } = typeof said === "string" ? { text: said } : said;
  const parts: Part[] = [];
  if (text !== undefined) parts.push({ type: "text", text });
  if (data !== undefined) parts.push({ type: "data", data });
  for (const file of files) parts.push(await filePart(file, artifacts));
  const metadata = settingsMetadata(settings);
  return { messageId, parts, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

type IncomingFile = NonNullable<Exclude<Said, string>["files"]>[number];

async function filePart(file: IncomingFile, artifacts: ArtifactStore): Promise<Part> {
  if ("url" in file) return { type: "url", ...file };
  const { bytes, ...about } = file;
  return { type: "file", ...(await artifacts.put(Buffer.from(bytes, "base64"), about)) };
}

import type { IncomingMessage, IncomingPart } from "manyhands/internal/core/message";
import { type FlowSettings, settingsMetadata } from "manyhands/internal/core/runs/task";
import type { Said } from "./run-schemas.ts";

/** What a caller said, as a message. */
export function userMessage(messageId: string, said: Said, settings: FlowSettings): IncomingMessage {
  const { text, data, files = [] } = typeof said === "string" ? { text: said } : said;
  const parts: IncomingPart[] = [
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
    ...(data === undefined ? [] : [{ type: "data", data } as const]),
    ...files.map(filePart),
  ];
  const metadata = settingsMetadata(settings);
  return { messageId, parts, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

type IncomingFile = NonNullable<Exclude<Said, string>["files"]>[number];

function filePart(file: IncomingFile): IncomingPart {
  if ("url" in file) return { type: "url", ...file };
  return { type: "bytes", ...file, bytes: Buffer.from(file.bytes, "base64") };
}

import type { Part as WirePart } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { Part } from "../../core/message.ts";
import type { ArtifactStore } from "../../core/workspace.ts";

/** Bytes of files that one message takes along: an agent of ours takes requests of 10 MB, and base64 adds a third. */
const mostBytes = 7 * 1024 * 1024;

/** Parts as a message carries them, files inline. Rejects with `too_large`, or `not_found` for a file whose content is gone. */
export async function outgoingParts(parts: readonly Part[], artifacts: ArtifactStore): Promise<WirePart[]> {
  const files = parts.flatMap((part) => (part.type === "file" ? [part.size] : []));
  if (files.reduce((sum, size) => sum + size, 0) > mostBytes) {
    throw new AppError("too_large", "The files are larger than the 7 MB that a message to another agent can carry.");
  }
  return Promise.all(parts.map((part) => outgoingPart(part, artifacts)));
}

async function outgoingPart(part: Part, artifacts: ArtifactStore): Promise<WirePart> {
  const plain = { metadata: undefined, filename: "", mediaType: part.mediaType ?? "" };
  switch (part.type) {
    case "text":
      return { ...plain, content: { $case: "text", value: part.text } };
    case "data":
      return { ...plain, content: { $case: "data", value: part.data } };
    case "url":
      return { ...plain, content: { $case: "url", value: part.url }, filename: part.name ?? "" };
    case "file": {
      const content = await artifacts.get(part.sha256);
      if (content === undefined) throw new AppError("not_found", `The file ${part.name} is not here any more.`);
      return { ...plain, content: { $case: "raw", value: Buffer.from(await content.bytes()) }, filename: part.name };
    }
  }
}

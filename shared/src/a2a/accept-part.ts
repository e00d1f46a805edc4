import type { Part as WirePart } from "@a2a-js/sdk";
import { RequestMalformedError } from "@a2a-js/sdk/errors";
import type { Part } from "../agent/events.ts";
import type { Json } from "../durable/run.ts";
import type { ArtifactStore } from "../workspace/workspace.ts";

/** Characters of text above which a part is kept as a file: no model reads it whole, and every view of the task stays small. */
const longestText = 256 * 1024;

/** A part that came in, as the journal keeps it; bytes go to the artifact store, which keeps equal content once. */
export async function acceptPart(part: WirePart, artifacts: ArtifactStore): Promise<Part> {
  const { content } = part;
  const mediaType = part.mediaType === "" ? {} : { mediaType: part.mediaType };
  switch (content?.$case) {
    case "text":
      if (content.value.length <= longestText) return { type: "text", text: content.value, ...mediaType };
      return keep(content.value, { name: "message.txt", mediaType: "text/plain", ...named(part) }, artifacts);
    case "raw":
      return keep(content.value, { name: "file", ...mediaType, ...named(part) }, artifacts);
    case "url":
      return { type: "url", url: content.value, ...mediaType, ...named(part) };
    case "data":
      return acceptData(content.value, part, artifacts);
    case undefined:
      // The SDK's codec drops `data: null`; a part without any content never gets this far.
      return { type: "data", data: null, ...mediaType };
    default:
      throw new RequestMalformedError("A part must have exactly one of text, raw, url and data");
  }
}

function acceptData(value: Json, part: WirePart, artifacts: ArtifactStore): Promise<Part> | Part {
  const mediaType = part.mediaType === "" ? {} : { mediaType: part.mediaType };
  const text = JSON.stringify(value);
  if (text.length <= longestText) return { type: "data", data: value, ...mediaType };
  return keep(text, { name: "message.json", mediaType: "application/json", ...named(part) }, artifacts);
}

async function keep(
  content: string | Uint8Array,
  about: { name: string; mediaType?: string },
  artifacts: ArtifactStore,
): Promise<Part> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { type: "file", ...(await artifacts.put(bytes, about)) };
}

/** A name without any path in it: what a sender calls a file must not choose where it goes. */
function named(part: WirePart): { name?: string } {
  const name = part.filename.split(/[\\/]/).at(-1)?.trim();
  return name === undefined || name === "" || name === "." || name === ".." ? {} : { name };
}

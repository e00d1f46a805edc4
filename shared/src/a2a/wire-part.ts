import type { Part as WirePart } from "@a2a-js/sdk";
import type { Part } from "../core/message.ts";
import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";
import { metadataKeys } from "./extensions.ts";

/**
 * A part in A2A's form. A stored file is sent as a URL, never inline: tasks stay small however
 * often they are read, and a stream frame stays below the 4 MiB limit of the SDK's clients.
 */
export function toWirePart(part: Part, publicUrl: string): WirePart {
  switch (part.type) {
    case "text":
      return wirePart({ $case: "text", value: part.text }, part);
    case "data":
      return wirePart({ $case: "data", value: part.data }, part);
    case "url":
      return wirePart({ $case: "url", value: part.url }, { ...part, filename: part.name });
    case "file":
      return wirePart(
        { $case: "url", value: artifactUrl(publicUrl, part) },
        {
          mediaType: part.mediaType,
          filename: part.name,
          metadata: { [metadataKeys.file]: { sha256: part.sha256, size: part.size } },
        },
      );
  }
}

/** The URL of a stored file. */
function artifactUrl(publicUrl: string, file: { readonly sha256: string; readonly name: string }): string {
  return `${withoutLastSlashes(publicUrl)}/artifacts/${file.sha256}/${encodeURIComponent(file.name)}`;
}

/** A part of plain text in A2A's form. */
export function textPart(text: string): WirePart {
  return wirePart({ $case: "text", value: text }, {});
}

function wirePart(
  content: NonNullable<WirePart["content"]>,
  rest: {
    mediaType?: string | undefined;
    filename?: string | undefined;
    metadata?: Record<string, unknown> | undefined;
  },
): WirePart {
  return { content, metadata: rest.metadata, filename: rest.filename ?? "", mediaType: rest.mediaType ?? "" };
}

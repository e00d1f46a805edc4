import type { Part as WirePart } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import { type Json, jsonOf } from "../core/json.ts";
import type { Part } from "../core/message.ts";

const token = "[\\w!#$&^.+-]+";
const wellFormed = new RegExp(`^${token}/${token}$`);
const textual = /^(text|text\/.+|application\/(.+\+)?(json|xml|yaml|javascript))$/;
const structured = /^(data|json|application\/(.+\+)?json)$/;

/** The type without its parameters; `text` and `data` are informal names that agents use. */
function bare(mediaType: string): string {
  return mediaType.split(";", 1).join("").trim().toLowerCase();
}

/**
 * Throws ContentTypeNotSupportedError for a part whose media type is malformed or does not fit its
 * content. Files and links may have any type: an agent works on them as files.
 */
export function checkMediaTypes(parts: readonly WirePart[]): void {
  for (const { content, mediaType } of parts) {
    if (mediaType === "" || fits(content?.$case, bare(mediaType))) continue;
    throw new ContentTypeNotSupportedError(
      `A part with ${content?.$case ?? "nothing"} of type ${JSON.stringify(mediaType.slice(0, 100))} is not supported`,
    );
  }
}

/** The part without a media type that an agent of ours would refuse it for. */
export function withFittingType(part: WirePart): WirePart {
  return fits(part.content?.$case, bare(part.mediaType)) ? part : { ...part, mediaType: "" };
}

function fits(content: NonNullable<WirePart["content"]>["$case"] | undefined, type: string): boolean {
  if (content === "text") return textual.test(type);
  if (content === "data") return structured.test(type);
  return wellFormed.test(type) || textual.test(type);
}

/**
 * Whether a caller that accepts these media types wants its answer as data, because it does not
 * take text. Without any it takes everything. Throws ContentTypeNotSupportedError if it takes
 * neither, since every answer is one or the other.
 */
export function wantsData(acceptedOutputModes: readonly string[]): boolean {
  const modes = acceptedOutputModes.map(bare);
  const takesText = modes.some((mode) => /^(\*\/\*|\*|text|text\/.+|application\/(\*|octet-stream))$/.test(mode));
  if (modes.length === 0 || takesText) return false;
  if (modes.some((mode) => structured.test(mode))) return true;
  throw new ContentTypeNotSupportedError("Answers are text/plain or application/json, and the call accepts neither");
}

/** The parts of an artifact for a caller that takes no text: text is data if nothing else is. */
export function asData(parts: readonly Part[]): Part[] {
  const hasData = parts.some(({ type }) => type === "data");
  return parts.flatMap((part): Part[] => {
    if (part.type === "text") return hasData ? [] : [{ ...jsonType, data: jsonIn(part.text) ?? { text: part.text } }];
    return [part.type === "data" ? { ...jsonType, ...part } : part];
  });
}

const jsonType = { type: "data", mediaType: "application/json" } as const;

/** The JSON object or list that a text is; undefined for any other text. */
function jsonIn(text: string): Json | undefined {
  const value = jsonOf(text);
  return typeof value === "object" && value !== null ? value : undefined;
}

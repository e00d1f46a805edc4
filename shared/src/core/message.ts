import type { Json } from "./json.ts";
import type { StoredFile } from "./workspace.ts";

/** What others attach to a part or an artifact: their data, passed on unchanged. */
export type Metadata = { readonly [key: string]: Json };

/**
 * A part of a message or artifact as people and peers see it. A file is referenced by its content
 * hash, never inlined. Only parts of another agent's artifact have metadata.
 */
export type Part =
  | { readonly type: "text"; readonly text: string; readonly mediaType?: string; readonly metadata?: Metadata }
  | ({ readonly type: "file" } & StoredFile)
  | {
      readonly type: "url";
      readonly url: string;
      readonly mediaType?: string;
      readonly name?: string;
      readonly metadata?: Metadata;
    }
  | { readonly type: "data"; readonly data: Json; readonly mediaType?: string; readonly metadata?: Metadata };

/** An artifact that another agent made, its files in our own artifact store. */
export type PeerArtifact = {
  readonly name: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly metadata?: Metadata;
};

/** What a person or peer sends: the first message of a task, or a later one on it. */
export type UserMessage = {
  readonly messageId: string;
  readonly parts: readonly Part[];
  readonly metadata?: Metadata;
};

/** A part of a message that comes in: a file comes as its content, which nobody has stored yet. */
export type IncomingPart =
  | Exclude<Part, { readonly type: "file" }>
  | {
      readonly type: "bytes";
      readonly bytes: Uint8Array;
      readonly name: string;
      readonly mediaType?: string | undefined;
    };

/** A message as it comes in. Its files are stored once nothing speaks against accepting it. */
export type IncomingMessage = Omit<UserMessage, "parts"> & { readonly parts: readonly IncomingPart[] };

/**
 * The signal under which every later message on a task is delivered, with the messageId as its id.
 */
export const messageSignal = "message";

/** The texts of a message, one below the other. */
export function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/**
 * A part of an answer as the model reads it. Files are given by name; the model finds them in the
 * workspace.
 */
export function inWords(part: Part): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "file":
      return `[Attached file: ${part.name} (${part.mediaType}, ${part.size} bytes)]`;
    case "url":
      return `[Attached link: ${part.url}]`;
    case "data":
      return JSON.stringify(part.data);
  }
}

/** The words of a part that somebody may look for: its text, or the name of its file or link. */
export function partWords(part: Part): string {
  return part.type === "text" ? part.text : part.type === "data" ? "" : (part.name ?? "");
}

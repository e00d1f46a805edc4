import { AppError } from "../core/errors.ts";
import type { Excerpt } from "../core/flow.ts";
import type { Run } from "../core/runs/run.ts";
import { sanitize } from "../core/text/sanitize.ts";
import type { ArtifactStore, StoredFile } from "../core/workspace.ts";

/** Files after the first eight are only named. */
const maxFiles = 8;
/**
 * The files share this much: bytes of texts, characters of documents. Each gets at least
 * `leastOfOne` and at most `maxOfOne`.
 */
const maxOfAll = 24_000;
const leastOfOne = 4_000;
const maxOfOne = 8_000;
/** The part of that which shows the end of a text that is longer. */
const bytesOfEnd = 1_000;
/** A document that is larger or takes longer to read is only named. */
const maxBytes = 20 * 2 ** 20;
const documentMs = 20_000;

/**
 * Reads so many characters of a document: what it is, what it says, and whether there is more.
 * Rejects with an AppError for what it cannot read, or with the signal's reason.
 */
export type ReadDocument = (
  content: Blob,
  request: { readonly name: string; readonly from: 0; readonly characters: number; readonly scans: "name" },
  signal: AbortSignal,
) => Promise<{ readonly about: string; readonly text: string; readonly next?: unknown }>;

/** Where files are, and what reads documents; without it they are only named. */
type ExcerptDeps = { readonly artifacts: Pick<ArtifactStore, "get">; readonly readDocument: ReadDocument | undefined };

/** The beginnings of these files, and the ends of texts, read once and recorded. */
export async function readExcerpts(
  run: Run,
  files: readonly StoredFile[],
  deps: ExcerptDeps,
): Promise<readonly Excerpt[]> {
  if (files.length === 0) return [];
  const read = async () => {
    const excerpts: Excerpt[] = [];
    const room = Math.max(leastOfOne, Math.min(maxOfOne, Math.floor(maxOfAll / files.length)));
    // One after another: each document has a process of its own.
    for (const [index, file] of files.entries()) {
      const text = index < maxFiles ? await beginning(file, room, deps, run.abortSignal) : undefined;
      excerpts.push({ name: file.name, size: file.size, ...(text !== undefined && { text }) });
    }
    return excerpts;
  };
  return run.step("excerpts", read, { effect: "pure" });
}

async function beginning(
  file: StoredFile,
  room: number,
  { artifacts, readDocument }: ExcerptDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const content = await artifacts.get(file.sha256);
  if (content === undefined) return undefined;
  const isLong = content.size > room;
  const begins = await content.slice(0, isLong ? room - bytesOfEnd : room).bytes();
  const ends = isLong ? await content.slice(-bytesOfEnd).bytes() : new Uint8Array();
  if (isText(begins, file) && !ends.includes(0)) return textOf(begins, ends, content.size - room);
  if (file.mediaType.startsWith("image/") || content.size > maxBytes) return undefined;
  return readDocument && documentText(readDocument, file, content, room, signal);
}

/** Whether the bytes of a file are what a person reads of it. */
function isText(bytes: Uint8Array, { mediaType }: StoredFile): boolean {
  return !bytes.includes(0) && mediaType !== "message/rfc822" && !Buffer.from(bytes).includes("%PDF-");
}

function textOf(begins: Uint8Array, ends: Uint8Array, leftOut: number): string {
  const isCut = ends.length > 0;
  const decoded = (encoding: Bun.Encoding, end: Uint8Array) => {
    const [start, last] = [begins, end].map((bytes) => new TextDecoder(encoding).decode(bytes, { stream: isCut }));
    return isCut ? `${start}\n[${leftOut} bytes left out]\n${last}` : (start ?? "");
  };
  // Half a character at a cut is left out.
  const text = decoded("utf-8", ends.subarray(ends.findIndex((byte) => byte >> 6 !== 0b10)));
  return isWestern(text) ? decoded("windows-1252", ends) : text;
}

/** Whether most that is not ASCII is no UTF-8, as in what spreadsheets write. */
function isWestern(text: string): boolean {
  const [broken, whole] = [/\ufffd/g, /[\u0080-\ufffc]/g].map((which) => text.match(which)?.length ?? 0);
  return (broken ?? 0) > (whole ?? 0);
}

/** What a document says at its beginning; undefined for what cannot be read as one. */
async function documentText(
  read: ReadDocument,
  { name }: StoredFile,
  content: Blob,
  room: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(documentMs)]);
  const request = { name, from: 0, characters: room, scans: "name" } as const;
  try {
    const { about, text, next } = await read(content, request, bounded);
    return `(${about})\n${sanitize(text)}${next === undefined ? "" : "\n[cut off]"}`;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError) && !bounded.aborted) throw error;
    return undefined;
  }
}

import type { FileHandle } from "node:fs/promises";
import { markedEncoding } from "../../page/decode.ts";

/** How a text file is decoded, and what its reader has to know of that. */
export type FileEncoding = {
  readonly label: "utf-8" | "utf-16le" | "utf-16be" | "windows-1252";
  readonly told: string;
};

const chunkBytes = 1024 * 1024;
const strangeShare = 0.2;

/**
 * Letters beyond ASCII with the ASCII letters beside them; € and the fixed space are in any text.
 */
const highRun = /[a-z]?([\x81-\x9f\xa1-\xff]+)[a-z]?/gi;
const longestWestern = 3;
/** What Windows-1252 does not have or a text hardly ever; other encodings begin letters with it. */
const unlikely = /[\x81-\x83\x88\x8d\x8f\x90\x98\x9d]/;

/**
 * The encoding of an open text file if it is not UTF-8: by its byte order mark, else Windows-1252
 * if its letters stand as in a western text. Undefined for UTF-8, and where nothing tells which it
 * is. `goOn` is called now and then and stops the reading by throwing.
 */
export async function otherEncoding(file: FileHandle, goOn: () => void): Promise<FileEncoding | undefined> {
  const { buffer } = await file.read(Buffer.alloc(3), 0, 3, 0);
  const marked = markedEncoding(buffer);
  if (marked !== undefined && marked !== "utf-8") return { label: marked, told: "is read as UTF-16" };
  if (await isUtf8(file, goOn)) return undefined;
  const seen = { western: 0, strange: 0, whole: 0, broken: 0 };
  for await (const bytes of chunksOf(file, goOn)) {
    for (const [around, run = ""] of bytes.toString("latin1").matchAll(highRun)) {
      const isWord = run.length === 1 || (run.length <= longestWestern && around.length > run.length);
      seen[isWord && !unlikely.test(run) ? "western" : "strange"] += run.length;
    }
    for (const [letter] of new TextDecoder().decode(bytes).matchAll(/[^\0-\x7f]/gu))
      seen[letter === "\ufffd" ? "broken" : "whole"]++;
  }
  if (seen.whole > seen.broken) return { label: "utf-8", told: "is not UTF-8 throughout: what is not stands as �" };
  if (seen.strange > (seen.strange + seen.western) * strangeShare) return undefined;
  return { label: "windows-1252", told: "is not UTF-8: it is read as Windows-1252 (western European)" };
}

async function isUtf8(file: FileHandle, goOn: () => void): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const bytes of chunksOf(file, goOn)) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** The file from its start, a megabyte at a time. */
export async function* chunksOf(file: FileHandle, goOn: () => void): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    goOn();
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

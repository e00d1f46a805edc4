import { isAscii } from "node:buffer";
import { markedEncoding } from "../../page/decode.ts";
import { likeliestEncoding } from "./letter-encodings.ts";

/** How a text file is decoded, what its reader has to know of that, and whether it is a guess. */
export type FileEncoding = { readonly label: Bun.Encoding; readonly told: string; readonly isGuess?: boolean };

/** A file's bytes from its start, as often as they are asked for. */
export type Chunks = () => AsyncIterable<Uint8Array>;

const strangeShare = 0.2;
/** So many letters beyond ASCII tell as much as all. */
const enoughLetters = 50_000;

/**
 * Letters beyond ASCII with the ASCII letters beside them; € and the fixed space are in any text.
 */
const highRun = /[a-z]?([\x81-\x9f\xa1-\xff]+)[a-z]?/gi;
const longestRun = 4;
/** What no text of a European encoding has, or hardly ever; Asian ones begin letters with it. */
const unlikely = /[\x81-\x83\x88\x90\x98]/;
/** What Windows-1252 does not have either, and Windows-1250 and -1257 do. */
const notWestern = /[\x8d\x8f\x9d]/;
/** Units and ordinals, whose signs are letters in other encodings: m³, µg, n.º. */
const signs = /(?<![a-z\x80-\xff])(?:[a-z]{0,2}m[\xb2\xb3]|\xb5[a-z]{1,2}|n?[\xaa\xba])(?![a-z\x80-\xff])/gi;

/**
 * The encoding of a text file if it is not UTF-8: by its byte order mark, else the likeliest one of
 * one byte a letter if its letters stand as in a European text. Undefined for UTF-8, and where
 * nothing tells which it is.
 */
export async function otherEncoding(chunks: Chunks): Promise<FileEncoding | undefined> {
  const marked = await markOf(chunks);
  if (marked !== undefined && marked !== "utf-8") return { label: marked, told: "is read as UTF-16" };
  if (await isUtf8(chunks)) return undefined;
  const seen = { word: 0, strange: 0, notWestern: 0, whole: 0, broken: 0 };
  const counts = new Map<number, number>();
  for await (const bytes of chunks()) {
    if (isAscii(bytes)) continue;
    const text = Buffer.from(bytes).toString("latin1").replaceAll(signs, " ");
    for (const [around, run = ""] of text.matchAll(highRun)) {
      const isWord = run.length === 1 || (run.length <= longestRun && around.length > run.length);
      seen[isWord && !unlikely.test(run) ? "word" : "strange"] += run.length;
      if (notWestern.test(run)) seen.notWestern += run.length;
      if (around.length > 1) for (const letter of run) count(letter.charCodeAt(0));
    }
    for (const [letter] of new TextDecoder().decode(bytes).matchAll(/[^\0-\x7f]/gu))
      seen[letter === "\ufffd" ? "broken" : "whole"]++;
    if (seen.word + seen.strange > enoughLetters) break;
  }
  if (seen.whole > seen.broken) return { label: "utf-8", told: "is not UTF-8 throughout: what is not stands as �" };
  const { label, name } = likeliestEncoding(counts);
  if (label === "windows-1252") seen.strange += seen.notWestern;
  if (seen.strange > (seen.strange + seen.word) * strangeShare) return undefined;
  return { label, told: `is not UTF-8: it is read as ${name}, judged by its letters`, isGuess: true };

  function count(byte: number): void {
    counts.set(byte, (counts.get(byte) ?? 0) + 1);
  }
}

async function markOf(chunks: Chunks): Promise<ReturnType<typeof markedEncoding>> {
  for await (const bytes of chunks()) return markedEncoding(bytes);
  return undefined;
}

async function isUtf8(chunks: Chunks): Promise<boolean> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for await (const bytes of chunks()) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

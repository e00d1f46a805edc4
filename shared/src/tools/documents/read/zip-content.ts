import { type Entry, fromBufferPromise, getFileNameLowLevel } from "yauzl";
import { AppError, messageOf } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import { judgedEntries, zipNameReader } from "../../../core/text/zip-name.ts";
import { numberRange } from "./number-range.ts";
import type { DocumentPiece, Reading } from "./reading.ts";

const maxEntries = 20_000;
const maxTextBytes = 64 * 2 ** 20;

/** A file in a zip archive, as its directory claims. */
export type ZipEntry = { readonly path: string; readonly size: number; readonly packed: number };

/** A zip archive in memory. */
export type ZipContent = {
  readonly entries: readonly ZipEntry[];
  /** Bytes that all entries claim to have when unpacked. */
  readonly unpackedBytes: number;
  /**
   * The text of an entry; undefined without such an entry. Rejects with `too_large` above 64 MB.
   */
  text(path: string): Promise<string | undefined>;
};

/** A name that the library decodes itself it also judges; here nothing is written under it. */
function dosName({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  return getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false).replaceAll("\\", "/");
}

/**
 * Reads the directory of a zip archive. Rejects with `unsupported` for a damaged one and with
 * `too_large` for one with more than 20,000 entries.
 */
export async function zipContent(bytes: Uint8Array): Promise<ZipContent> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const open = () => fromBufferPromise(buffer, { lazyEntries: true, decodeStrings: false });
  const found: Entry[] = [];
  try {
    const zip = await open();
    for await (const entry of zip.eachEntry()) {
      if (found.length === maxEntries) throw new AppError("too_large", "The archive has more than 20000 entries.");
      found.push(entry);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("unsupported", `The archive is damaged: ${messageOf(error)}`);
  }
  const read = zipNameReader(found.slice(0, judgedEntries));
  const nameOf = (entry: Entry) => read(entry)?.replaceAll("\\", "/") ?? dosName(entry);
  const entries = found.map((entry) => ({
    path: nameOf(entry),
    size: entry.uncompressedSize,
    packed: entry.compressedSize,
  }));
  return {
    entries,
    unpackedBytes: entries.reduce((sum, { size }) => sum + size, 0),
    async text(path) {
      const zip = await open();
      for await (const entry of zip.eachEntry()) {
        if (nameOf(entry) !== path) continue;
        if (entry.uncompressedSize > maxTextBytes)
          throw new AppError("too_large", `${JSON.stringify(path)} in it unpacks to more than 64 MB.`);
        const chunks: Uint8Array[] = [];
        // The library ends a stream that unpacks to more than the entry claims.
        for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk);
        return new TextDecoder().decode(Buffer.concat(chunks));
      }
      return undefined;
    },
  };
}

/** Rejects with `too_large` an archive that claims to unpack to more than this. */
export function requireUnpackable({ unpackedBytes }: ZipContent, maxBytes: number): void {
  if (unpackedBytes <= maxBytes) return;
  const [claimed, most] = [unpackedBytes, maxBytes].map((bytes) => Math.round(bytes / 2 ** 20));
  throw new AppError("too_large", `It unpacks to ${claimed} MB, more than the ${most} MB that are read.`);
}

/** The names and sizes of what a zip archive holds; nothing is unpacked. */
export function listArchive({ entries, unpackedBytes }: ZipContent, part: string | undefined): Reading {
  const { first, last } = numberRange(part, Math.max(1, entries.length), "entry");
  const pieces = entries.slice(first - 1, last).map(({ path, size }, at): DocumentPiece => {
    const number = first + at;
    return { label: `entry ${number}`, at: `${number}-${last}`, text: `- ${path} (${size} bytes)` };
  });
  return { about: `Zip archive, ${counted(entries.length, "file")}, ${unpackedBytes} bytes unpacked`, pieces };
}

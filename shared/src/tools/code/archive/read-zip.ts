import type { Entry } from "yauzl";
import { AppError } from "../../../core/errors.ts";
import { judgedEntries, zipNameReader } from "../../../core/text/zip-name.ts";
import { type ArchiveEntry, nothing } from "./archive-entry.ts";

const longestTarget = 4096;
const unix = 3;
/** Stored as it is, and deflated. */
const methods: readonly number[] = [0, 8];
const typeBits = 0o170000;

/**
 * The entries of a zip file, by its directory at the end, with their names as they are. Throws
 * `rejected` for entries that are encrypted or damaged.
 */
export async function* readZip(descriptor: number): AsyncGenerator<ArchiveEntry> {
  const { fromFdPromise, getFileNameLowLevel } = await import("yauzl");
  // A name that it decodes itself it also judges, and ends at one that it does not like.
  const zip = await fromFdPromise(descriptor, { lazyEntries: true, decodeStrings: false, autoClose: false });
  const dosName = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry) =>
    getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
  for await (const [entry, path] of named(zip.eachEntry(), dosName)) {
    const open = async function* () {
      if (entry.isEncrypted()) throw new AppError("rejected", `${path} is encrypted.`);
      const { compressionMethod: method } = entry;
      if (!methods.includes(method))
        throw new AppError("rejected", `${path} is packed in a way that cannot be unpacked here (method ${method}).`);
      yield* await zip.openReadStreamPromise(entry);
    };
    const kind = path.endsWith("/") ? "folder" : kindOf(entry);
    yield {
      path,
      kind,
      executable: (modeOf(entry) & 0o100) !== 0,
      content: kind === "file" ? open : nothing,
      ...(kind === "symlink" && { target: await entryText(open()) }),
    };
  }
}

/** Each entry with its name, in the encoding that the first ones seem to be in. */
async function* named(
  entries: AsyncIterable<Entry>,
  otherwise: (entry: Entry) => string,
): AsyncGenerator<readonly [Entry, string]> {
  const first: Entry[] = [];
  let read: ReturnType<typeof zipNameReader> | undefined;
  const withName = (entry: Entry) => [entry, read?.(entry) ?? otherwise(entry)] as const;
  const begin = () => {
    read = zipNameReader(first);
    return first.splice(0).map(withName);
  };
  for await (const entry of entries) {
    if (read !== undefined) yield withName(entry);
    else if (first.push(entry) === judgedEntries) yield* begin();
  }
  yield* begin();
}

/** The mode that Unix programs write into the upper half; 0 for other systems. */
function modeOf({ versionMadeBy, externalFileAttributes }: Entry): number {
  return versionMadeBy >> 8 === unix ? externalFileAttributes >>> 16 : 0;
}

function kindOf(entry: Entry): "symlink" | "file" | "special" {
  const type = modeOf(entry) & typeBits;
  if (type === 0o120000) return "symlink";
  return type === 0 || type === 0o100000 ? "file" : "special";
}

async function entryText(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of content) {
    length += chunk.length;
    if (length > longestTarget) throw new AppError("rejected", "A symbolic link in it is too long.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

import type { Entry } from "yauzl";
import { AppError } from "../../../core/errors.ts";
import { type ArchiveEntry, nothing } from "./archive-entry.ts";

const longestTarget = 4096;
const unix = 3;
const typeBits = 0o170000;

/**
 * The entries of a zip file, by its directory at the end. Throws `rejected` for entries that are
 * encrypted, damaged or unusually named.
 */
export async function* readZip(descriptor: number): AsyncGenerator<ArchiveEntry> {
  const { fromFdPromise } = await import("yauzl");
  const zip = await fromFdPromise(descriptor, { lazyEntries: true, strictFileNames: true, autoClose: false });
  for await (const entry of zip.eachEntry()) {
    const open = async function* () {
      if (entry.isEncrypted()) throw new AppError("rejected", `${entry.fileName} is encrypted.`);
      yield* await zip.openReadStreamPromise(entry);
    };
    const kind = kindOf(entry);
    yield {
      path: entry.fileName,
      kind,
      executable: (modeOf(entry) & 0o100) !== 0,
      content: kind === "file" ? open : nothing,
      ...(kind === "symlink" && { target: await entryText(open()) }),
    };
  }
}

/** The mode that Unix programs write into the upper half; 0 for other systems. */
function modeOf({ versionMadeBy, externalFileAttributes }: Entry): number {
  return versionMadeBy >> 8 === unix ? externalFileAttributes >>> 16 : 0;
}

function kindOf(entry: Entry): ArchiveEntry["kind"] {
  if (entry.fileName.endsWith("/")) return "folder";
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

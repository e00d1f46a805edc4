import { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Pack } from "tar-stream";
import { AppError } from "../../core/errors.ts";

/** A file to put into an archive; `read` is called when its turn has come. */
export type ArchivedFile = {
  readonly path: string;
  /** In bytes, as far as is known before it is read. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt?: number | undefined;
  readonly isExecutable?: boolean;
  readonly read: () => Promise<Uint8Array>;
};

type Bounds = {
  /** The most bytes of all files together. */
  readonly maxBytes: number;
  /** Why the list of files is not whole; undefined if it is. */
  readonly notListed?: string | undefined;
};

/** What an archive that leaves something out has besides: which, and why. */
export const leftOutName = "NOT-INCLUDED.txt";

/**
 * The files as a compressed tar archive, written while it is read: one file at a time is in memory.
 * A file that is gone, too large, or beyond the bound is left out, and `NOT-INCLUDED.txt` at the
 * end says so. Paths lose whatever leads out of the folder that the archive is unpacked into.
 * Cancelling the stream ends the work.
 */
export async function archiveStream(
  files: readonly ArchivedFile[],
  bounds: Bounds,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { pack: open } = await import("tar-stream");
  const pack = open();
  const tar = Readable.from(pack);
  const packed = tar.pipe(createGzip());
  fill(pack, files, bounds).then(
    () => pack.finalize(),
    (error: Error) => pack.destroy(error),
  );
  packed.once("close", () => pack.destroy());
  // A stream whose failure nobody hears ends the process.
  const fail = (error: Error) => void packed.destroy(error);
  pack.once("error", fail);
  tar.once("error", fail);
  return Readable.toWeb(packed) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
}

async function fill(pack: Pack, files: readonly ArchivedFile[], { maxBytes, notListed }: Bounds): Promise<void> {
  const leftOut = notListed === undefined ? [] : [notListed];
  const taken = new Set<string>([leftOutName]);
  let total = 0;
  for (const { path, size, read, ...about } of files) {
    if (pack.destroyed) return;
    const bytes = total + size > maxBytes ? undefined : await read().catch((error: unknown) => reasonOf(error));
    if (bytes === undefined || typeof bytes === "string") {
      leftOut.push(`${path}: ${bytes ?? `the archive would have more than ${maxBytes / 1024 / 1024} MB`}`);
      continue;
    }
    total += bytes.length;
    await add(pack, freeName(path, taken), bytes, about);
  }
  if (leftOut.length > 0)
    await add(pack, leftOutName, new TextEncoder().encode(`Not in this archive:\n\n${leftOut.join("\n")}\n`));
}

function add(
  pack: Pack,
  name: string,
  bytes: Uint8Array,
  { modifiedAt, isExecutable = false }: Pick<ArchivedFile, "modifiedAt" | "isExecutable"> = {},
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const header = {
    name,
    size: bytes.length,
    mode: isExecutable ? 0o755 : 0o644,
    ...(modifiedAt !== undefined && { mtime: new Date(modifiedAt) }),
  };
  const entry = pack.entry(header, (error) => (error ? reject(error) : resolve()));
  pack.once("close", resolve);
  entry.end(bytes);
  return promise.finally(() => pack.off("close", resolve));
}

/** The path without what leads elsewhere, and with a number if another file has it. */
function freeName(path: string, taken: Set<string>): string {
  const parts = path.split(/[/\\]+/).filter((part) => part !== "" && part !== "." && part !== "..");
  const plain = parts.join("/").replaceAll(/\p{Cc}/gu, "_") || "file";
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = plain.replace(/(\.[^./]*)?$/, `-${n}$1`);
  taken.add(name);
  return name;
}

function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  throw error;
}

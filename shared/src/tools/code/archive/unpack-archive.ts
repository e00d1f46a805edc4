import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import { betweenMarks, sanitizeLine } from "../../../core/text/sanitize.ts";
import { bytesInWords } from "../../../machine/sandbox/limits.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import type { OpenFile } from "../../../machine/workspace/workspace-file.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { type ArchiveFile, type Compression, decompress } from "./decompress.ts";
import { defaultExtractLimits, type ExtractLimits, withinLimits } from "./extract-room.ts";
import { type Placing, placeEntries, type Unpacked } from "./place-entries.ts";
import { readMailFiles } from "./read-mail-files.ts";
import { readTar } from "./read-tar.ts";
import { readZip } from "./read-zip.ts";

/** An archive that will become a folder of a workspace. */
export type Unpacking = Omit<Placing, "entries" | "packedBytes"> & {
  readonly archive: ArchiveFile;
  readonly sandbox: Sandbox;
  /** The name of the file that is compressed alone; without it such an archive is rejected. */
  readonly single?: string;
  /** Set for a mail: what is attached to it becomes the folder's files. */
  readonly mail?: Pick<OpenFile, "read">;
};

/**
 * Turns an archive into a new folder of the workspace, as `placeEntries` does. Rejects with
 * `unsupported` when it is not an archive that can be read here.
 */
export async function unpackArchive({
  archive,
  sandbox,
  single,
  mail,
  limits = defaultExtractLimits,
  ...placing
}: Unpacking): Promise<Unpacked> {
  return await placeEntries({ ...placing, limits, entries: entriesOf(), packedBytes: () => archive.size });
  async function* entriesOf(): AsyncGenerator<ArchiveEntry> {
    if (mail !== undefined) yield* readMailFiles(mail, placing.signal);
    else yield* await openArchive(archive, { sandbox, single, limits, signal: placing.signal });
  }
}

const magics: readonly (readonly [Exclude<Compression, "none"> | "zip", string])[] = [
  ["zip", "504b0304"],
  ["zip", "504b0506"],
  ["gzip", "1f8b"],
  ["bzip2", "425a68"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
];

const tarMagicAt = 257;
const tarStart = tarMagicAt + "ustar".length;

function isTar(start: Buffer): boolean {
  return start.toString("latin1", tarMagicAt, tarStart) === "ustar";
}

/**
 * The entries of an archive, whose format is detected by its first bytes, not its name. Throws
 * `unsupported` when it is not an archive.
 */
async function openArchive(
  file: ArchiveFile,
  deps: {
    readonly sandbox: Sandbox;
    readonly single: string | undefined;
    readonly limits: ExtractLimits;
    readonly signal: AbortSignal;
  },
): Promise<AsyncGenerator<ArchiveEntry>> {
  const { buffer } = await file.handle.read(Buffer.alloc(tarStart), 0, undefined, 0);
  const start = buffer.toString("hex");
  const kind = magics.find(([, magic]) => start.startsWith(magic))?.[0];
  if (kind === "zip") return readZip(file.handle.fd);
  if (kind === undefined && !isTar(buffer))
    throw new AppError(
      "unsupported",
      "It is not an archive that can be unpacked here (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz, .tar.zst).",
    );
  const unpacked = withinLimits(decompress(file, kind ?? "none", deps), deps);
  return kind === undefined || deps.single === undefined ? readTar(unpacked) : readTarOrFile(unpacked, deps.single);
}

async function* readTarOrFile(stream: AsyncGenerator<Uint8Array>, path: string): AsyncGenerator<ArchiveEntry> {
  const first: Uint8Array[] = [];
  for (let bytes = 0; bytes < tarStart; ) {
    const { done, value } = await stream.next();
    if (done) break;
    first.push(value);
    bytes += value.length;
  }
  async function* content() {
    try {
      yield* first;
      yield* stream;
    } finally {
      await stream.return(undefined);
    }
  }
  if (isTar(Buffer.concat(first))) yield* readTar(content());
  else yield { path, kind: "file", executable: false, content };
}

const shown = 20;
const longestName = 120;
/** An example that git puts into every repository and never runs. */
const sampleHook = /\/hooks\/[\w-]+\.sample$/;

/** What a model needs to know about an unpacked archive; the names in it are between marks. */
export function unpackedText({ folder, files, leftOut, misnamed }: Unpacked): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const told = leftOut.filter((path) => !sampleHook.test(path));
  const top = [...new Set(files.map(({ path }) => path.slice(folder.length + 1).replace(/\/.*/s, "/")))].sort();
  const without = (what: string, names: readonly string[]) =>
    names.length === 0
      ? []
      : [`Left out ${what}${names.length > shown ? ", among others" : ""}:`, named(folder, names)];
  return [
    `Unpacked ${counted(files.length, "file")} (${bytesInWords(bytes)}) into ${folder}/${top.length > shown ? `, of its ${top.length} names the first ${shown}` : ""}:`,
    named(folder, top),
    ...without("(git hooks, links that lead nowhere or outside)", told),
    ...without(
      "for their names",
      misnamed.map(({ name, why }) => `${name.slice(0, longestName / 2)} (${why})`),
    ),
  ].join("\n");
}

/** Names that strangers chose, and not at length. */
function named(folder: string, names: readonly string[]): string {
  const list = names.slice(0, shown).map((name) => `- ${sanitizeLine(name, longestName)}`);
  return betweenMarks("archive-content", folder, list.join("\n"));
}

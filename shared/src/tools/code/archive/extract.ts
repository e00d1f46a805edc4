import { chmod, constants, copyFile, mkdir, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, errnoOf } from "../../../core/errors.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { createRoom, type ExtractLimits, type Room } from "./extract-room.ts";
import { type LinksOutside, makeLinks } from "./make-links.ts";

/** What was extracted: files with the hash of their content, and what was left out on purpose. */
export type Extracted = {
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly size: number }[];
  readonly leftOut: readonly string[];
};

const runLater = /(?:^|\/)\.git\/(?:.*\/)?hooks\/./i;

/**
 * Writes an archive's entries below an empty folder that no tool can see. Throws `rejected` for
 * names that lead outside, occur twice or are unusual, for devices and, unless they are to be left
 * out, links to outside; throws `too_large` above the limits. Git hooks and dangling links are left
 * out.
 */
export async function extract(
  entries: AsyncIterable<ArchiveEntry>,
  folder: string,
  options: {
    readonly packedBytes: () => number;
    readonly limits: ExtractLimits;
    readonly signal: AbortSignal;
    /** Rejected by default. */
    readonly linksOutside?: LinksOutside;
  },
): Promise<Extracted> {
  const extraction: Extraction = { folder, room: createRoom(options), files: new Map(), links: new Map() };
  const leftOut: string[] = [];
  for await (const entry of entries) {
    extraction.room.takeEntry();
    const path = entryNames(entry.path).join("/");
    if (runLater.test(path)) leftOut.push(path);
    else if (path !== "") await write(entry, path, extraction);
  }
  leftOut.push(...(await makeLinks(folder, extraction.links, options.linksOutside ?? "refuse")));
  const files = [...extraction.files].map(([path, written]) => ({ path, ...written }));
  return { files, leftOut };
}

type Written = { readonly sha256: string; readonly size: number };

type Extraction = {
  readonly folder: string;
  readonly room: Room;
  readonly files: Map<string, Written>;
  readonly links: Map<string, string>;
};

async function write(entry: ArchiveEntry, path: string, extraction: Extraction): Promise<void> {
  const { folder, room, files, links } = extraction;
  const place = join(folder, path);
  try {
    await mkdir(entry.kind === "folder" ? place : dirname(place), { recursive: true, mode: 0o755 });
    if (entry.kind === "folder") return;
    if (links.has(path)) throw taken(path);
    if (entry.kind === "file") files.set(path, await writeFile(entry, place, room));
    else if (entry.kind === "symlink") links.set(path, entry.target ?? "");
    else if (entry.kind === "hard-link") files.set(path, await copy(entry, path, extraction));
    else throw new AppError("rejected", `${path} in it is a device, a pipe or the like.`);
  } catch (error) {
    if (["EEXIST", "ENOTDIR", "EISDIR"].includes(errnoOf(error) ?? "")) throw taken(path);
    throw error;
  }
}

function taken(path: string): AppError {
  return new AppError("rejected", `It contains the name ${path} twice.`);
}

async function writeFile({ content, executable }: ArchiveEntry, place: string, room: Room): Promise<Written> {
  const hash = new Bun.CryptoHasher("sha256");
  let size = 0;
  await using file = await open(place, "wx", executable ? 0o755 : 0o644);
  for await (const chunk of content()) {
    size += chunk.length;
    room.takeBytes(chunk.length);
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), size };
}

/** A hard link becomes a separate file: two names for one file would change together. */
async function copy(entry: ArchiveEntry, path: string, { folder, room, files }: Extraction): Promise<Written> {
  const from = entryNames(entry.target ?? "").join("/");
  const written = files.get(from);
  if (written === undefined) throw new AppError("rejected", `${path} in it is a link to something else.`);
  room.takeBytes(written.size);
  await copyFile(join(folder, from), join(folder, path), constants.COPYFILE_EXCL);
  await chmod(join(folder, path), (await stat(join(folder, from))).mode);
  return written;
}

const longestPath = 1000;
const longestName = 255;
const deepest = 60;

/**
 * The names in an entry's path; none for the archive's root. Throws `rejected` for paths that are
 * absolute, lead upwards, or contain names that some system or program would interpret as something
 * else.
 */
function entryNames(path: string): string[] {
  const shown = JSON.stringify(path.slice(0, 120));
  const refuse = (why: string) => new AppError("rejected", `The name ${shown} in it ${why}.`);
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) throw refuse("is absolute");
  if (path.includes("\\")) throw refuse("has a backslash in it");
  if (/\p{Cc}|\ufffd|[\u202a-\u202e\u2066-\u2069]/u.test(path))
    throw refuse("has characters in it that no name should have");
  const names = path
    .replace(/\/+$/, "")
    .split("/")
    .filter((name) => name !== ".");
  if (names.includes("..")) throw refuse("leads out of the archive");
  if (path === "" || (names.includes("") && names.length > 1)) throw refuse("has an empty part");
  if (
    path.length > longestPath ||
    names.length > deepest ||
    names.some((name) => Buffer.byteLength(name) > longestName)
  )
    throw refuse("is too long or too deep");
  return names.filter((name) => name !== "");
}

import { chmod, constants, copyFile, mkdir, open, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError, errnoOf } from "../../../core/errors.ts";
import { withoutLastSlashes } from "../../../core/text/without-last-slashes.ts";
import type { ArchiveEntry } from "./archive-entry.ts";
import { createRoom, type ExtractLimits, type Room } from "./extract-room.ts";
import { type LinksOutside, makeLinks } from "./make-links.ts";

/** An entry whose name no file gets, and why, as the rest of a sentence about the name. */
export type Misnamed = { readonly name: string; readonly why: string };

/** What was extracted: files with the hash of their content, and what was left out on purpose. */
export type Extracted = {
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly size: number }[];
  readonly leftOut: readonly string[];
  readonly misnamed: readonly Misnamed[];
};

const runLater = /(?:^|\/)\.git\/(?:.*\/)?hooks\/./i;

/**
 * Writes an archive's entries below an empty folder that no tool can see. Throws `rejected` for
 * names that occur twice, for devices and, unless they are to be left out, links to outside; throws
 * `too_large` above the limits. Git hooks, dangling links and names that lead outside or are
 * unusual are left out; throws `rejected` if there are no others.
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
  const misnamed: Misnamed[] = [];
  for await (const entry of entries) {
    extraction.room.takeEntry();
    const why = faultOfPath(entry.path);
    const path = namesIn(entry.path).join("/");
    if (why !== undefined) misnamed.push({ name: entry.path, why });
    else if (runLater.test(path)) leftOut.push(path);
    else if (path !== "") await write(entry, path, extraction);
  }
  leftOut.push(...(await makeLinks(folder, extraction.links, options.linksOutside ?? "refuse")));
  const files = [...extraction.files].map(([path, written]) => ({ path, ...written }));
  const [first] = misnamed;
  if (first !== undefined && files.length === 0) throw refused(first);
  return { files, leftOut, misnamed };
}

function refused({ name, why }: Misnamed): AppError {
  return new AppError("rejected", `The name ${JSON.stringify(name.slice(0, 120))} in it ${why}.`);
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
  const target = entry.target ?? "";
  const why = faultOfPath(target);
  if (why !== undefined) throw refused({ name: target, why });
  const from = namesIn(target).join("/");
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

/** The names in an entry's path; none for the archive's root. */
function namesIn(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

/**
 * Why no file gets this path: it is absolute, leads upwards, or has names that some system or
 * program would interpret as something else.
 */
function faultOfPath(path: string): string | undefined {
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is absolute";
  if (path.includes("\\")) return "has a backslash in it";
  if (/\p{Cc}|\ufffd|[\u202a-\u202e\u2066-\u2069]/u.test(path)) return "has characters in it that no name should have";
  const names = withoutLastSlashes(path)
    .split("/")
    .filter((name) => name !== ".");
  if (names.includes("..")) return "leads out of the archive";
  if (path === "" || (names.includes("") && names.length > 1)) return "has an empty part";
  const isLong = path.length > longestPath || names.length > deepest;
  return isLong || names.some((name) => Buffer.byteLength(name) > longestName) ? "is too long or too deep" : undefined;
}

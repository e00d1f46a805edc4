import { link, lstat, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError, errnoOf, FilesUnavailable, unlessMissing } from "../../../core/errors.ts";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { ArtifactStore, KeptArtifacts, StoredFile, Workspace } from "../../../core/workspace.ts";
import { mediaTypeOf } from "../media-type.ts";
import { removeStale } from "../own-files/remove-stale.ts";
import { openFile } from "../workspace-file.ts";

/** The default size limit of one artifact, in bytes. */
const defaultMaxBytes = 1024 ** 3;

const storageFaults = ["ENOSPC", "EDQUOT", "EROFS", "EIO"];

/** Whether the disk is the cause: full, read-only or broken. */
function isStorageFault(error: unknown): boolean {
  return storageFaults.includes(errnoOf(error) ?? "");
}

/**
 * A store in a folder, which several processes may share. Content is streamed to the disk, never
 * collected in memory, and appears under its hash only when it is complete and synced. `put`
 * rejects with `too_large` above `maxBytes`; content that fails on the way leaves nothing behind.
 */
export function createArtifactStore(
  folder: string,
  { maxBytes = defaultMaxBytes }: { maxBytes?: number } = {},
): KeptArtifacts {
  const arrivals = join(folder, "arriving");
  return {
    async put(content, about) {
      await mkdir(arrivals, { recursive: true, mode: 0o700 });
      await removeStale(arrivals);
      const arriving = join(arrivals, crypto.randomUUID());
      try {
        const { sha256, size } = await receive(content, arriving, maxBytes);
        await keep(arriving, pathIn(folder, sha256));
        return { sha256, ...described(about), size };
      } catch (error) {
        throw isStorageFault(error) ? new FilesUnavailable("The file store cannot be written.", error) : error;
      } finally {
        await rm(arriving, { force: true });
      }
    },
    describe(content, about) {
      const sha256 = sha256Of(content);
      return { sha256, ...described(about), size: content.byteLength };
    },
    async get(sha256) {
      if (!isSha256(sha256)) return undefined;
      const file = Bun.file(pathIn(folder, sha256));
      return (await file.exists()) ? file : undefined;
    },
    async *old(before) {
      for (const part of (await readdir(folder).catch(unlessMissing)) ?? []) {
        if (!/^[0-9a-f]{2}$/.test(part)) continue;
        const old: string[] = [];
        for (const name of (await readdir(join(folder, part)).catch(unlessMissing)) ?? []) {
          const found = isSha256(name) ? await lstat(pathIn(folder, name)).catch(unlessMissing) : undefined;
          if (found !== undefined && found.mtimeMs < before) old.push(name);
        }
        if (old.length > 0) yield old;
      }
    },
    remove: (sha256, notAfter) => removeStored(folder, sha256, notAfter),
  };
}

/**
 * Keeps a copy of a workspace file in the store, under its path there; rejects as `openFile` and
 * `put` do.
 */
export async function storeFile(workspace: Workspace, store: ArtifactStore, path: string): Promise<StoredFile> {
  await using file = await openFile(workspace, path);
  const { name, relative } = file.place;
  return { ...(await store.put(file.handle.readableWebStream(), { name })), name: relative };
}

/** Whether this is the name of stored content. */
export function isSha256(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

function pathIn(folder: string, sha256: string): string {
  return join(folder, sha256.slice(0, 2), sha256);
}

/** How long a removal takes at most; one that is older was cut off. */
const removalMs = 60_000;

/**
 * Removes content that was last stored by `notAfter`, and returns whether it is gone. `put` may
 * store the same content meanwhile: it is moved first, looked at, and put back if it is newer.
 */
async function removeStored(folder: string, sha256: string, notAfter: number): Promise<boolean> {
  const leaving = join(folder, "leaving");
  await mkdir(leaving, { recursive: true, mode: 0o700 });
  await putBackCutOff(folder, leaving);
  const place = join(leaving, `${sha256}.${crypto.randomUUID()}`);
  try {
    await rename(pathIn(folder, sha256), place);
  } catch (error) {
    unlessMissing(error);
    return true;
  }
  const isNewer = (await stat(place)).mtimeMs > notAfter;
  if (isNewer) await putBack(folder, place, sha256);
  await rm(place, { force: true });
  return !isNewer;
}

/** A removal that was cut off is undone: the next one decides anew. */
async function putBackCutOff(folder: string, leaving: string): Promise<void> {
  for (const name of await readdir(leaving)) {
    const place = join(leaving, name);
    const found = await stat(place).catch(unlessMissing);
    if (found === undefined || found.ctimeMs > Date.now() - removalMs) continue;
    await putBack(folder, place, name.slice(0, 64));
    await rm(place, { force: true });
  }
}

async function putBack(folder: string, place: string, sha256: string): Promise<void> {
  try {
    await link(place, pathIn(folder, sha256));
  } catch (error) {
    if (!["EEXIST", "ENOENT"].includes(errnoOf(error) ?? "")) throw error;
  }
}

async function receive(
  content: Uint8Array | ReadableStream<Uint8Array>,
  path: string,
  maxBytes: number,
): Promise<{ sha256: string; size: number }> {
  const hash = new Bun.CryptoHasher("sha256");
  let size = 0;
  await using file = await open(path, "wx", 0o600);
  for await (const chunk of content instanceof Uint8Array ? [content] : content) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new AppError("too_large", `The file is larger than the ${maxBytes} bytes that are kept.`);
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  await file.sync();
  return { sha256: hash.digest("hex"), size };
}

async function keep(arrived: string, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true, mode: 0o700 });
  await rename(arrived, place);
  await using folder = await open(dirname(place), "r");
  await folder.sync();
}

function described(about: { readonly name: string; readonly mediaType?: string }) {
  const name = safeName(about.name);
  return { name, mediaType: about.mediaType ?? mediaTypeOf(name) };
}

/** The last part of a name that others chose, made safe for a URL path and a disk. */
function safeName(name: string): string {
  const safe = basename(name.replaceAll("\\", "/"))
    .replaceAll(/\p{Cc}/gu, "")
    .slice(0, 200);
  return safe === "" || safe === "." || safe === ".." ? "file" : safe;
}

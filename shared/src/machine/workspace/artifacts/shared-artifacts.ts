import { AppError } from "../../../core/errors.ts";
import { withoutLastSlashes } from "../../../core/text/without-last-slashes.ts";
import type { KeptArtifacts, StoredFile } from "../../../core/workspace.ts";
import { isSha256 } from "./artifact-store.ts";
import type { Bucket } from "./bucket.ts";

/** Where the artifacts of several machines are. */
export type SharedArtifactsOptions = {
  readonly bucket: Bucket;
  /** What the keys start with; systems with different run stores have different ones. */
  readonly prefix: string;
  /** This machine's copies. */
  readonly cache: KeptArtifacts;
};

/** How long this machine keeps its copies. */
const copyMs = 24 * 60 * 60 * 1000;
/** Within this time from its storing here a file is in the bucket. */
const arrivingMs = 5 * 60 * 1000;

/**
 * A store that several machines share: content is in a bucket before `put` resolves, and is copied
 * to this machine where it is read.
 *
 * Each `put` makes an object of its own, `PREFIX/SHA256/ID`, whose id tells when. So whoever
 * removes what was stored until some time cannot take away what is being stored again.
 */
export function createSharedArtifacts({ bucket, prefix, cache }: SharedArtifactsOptions): KeptArtifacts {
  const folder = prefix === "" ? "" : `${withoutLastSlashes(prefix)}/`;
  const keyOf = (sha256: string) => `${folder}${sha256}/${Bun.randomUUIDv7()}`;
  const arriving = new Map<string, Promise<Blob | undefined>>();

  async function fetched(sha256: string): Promise<Blob | undefined> {
    for await (const [key] of bucket.list(`${folder}${sha256}/`, 1)) {
      const content = key === undefined ? undefined : await bucket.download(key);
      // Whoever stored it again removes nothing, so another copy may be there.
      if (content === undefined) continue;
      const stored = await cache.put(content, { name: sha256 });
      if (stored.sha256 === sha256) return cache.get(sha256);
      throw new AppError("storage_unavailable", `The object store does not hold what was stored as ${sha256}.`);
    }
    return undefined;
  }

  /** Puts a copy that was made before the bucket was set into it. */
  async function share(sha256: string): Promise<void> {
    if (await isIn(bucket, `${folder}${sha256}/`)) return;
    const file = await cache.get(sha256);
    if (file !== undefined) await bucket.upload(keyOf(sha256), file);
  }

  return {
    describe: cache.describe,
    async put(content, about): Promise<StoredFile> {
      const stored = await cache.put(content, about);
      const file = await cache.get(stored.sha256);
      if (file === undefined) throw new AppError("storage_unavailable", "A file just stored is gone.");
      await bucket.upload(keyOf(stored.sha256), file);
      return stored;
    },
    async get(sha256) {
      if (!isSha256(sha256)) return undefined;
      const here = await cache.get(sha256);
      if (here !== undefined) return here;
      const under = arriving.get(sha256) ?? fetched(sha256).finally(() => arriving.delete(sha256));
      arriving.set(sha256, under);
      return await under;
    },
    async *old(before) {
      let last: { sha256: string; newest: number } | undefined;
      for await (const keys of bucket.list(folder)) {
        const old: string[] = [];
        for (const { sha256, storedAt } of keys.flatMap((key) => placeOf(key.slice(folder.length)))) {
          if (last !== undefined && last.sha256 !== sha256 && last.newest < before) old.push(last.sha256);
          last = { sha256, newest: Math.max(storedAt, last?.sha256 === sha256 ? last.newest : 0) };
        }
        if (old.length > 0) yield old;
      }
      if (last !== undefined && last.newest < before) yield [last.sha256];
    },
    async remove(sha256, notAfter) {
      if (!isSha256(sha256)) return true;
      let isGone = true;
      const going: string[] = [];
      for await (const keys of bucket.list(`${folder}${sha256}/`))
        for (const key of keys) {
          const [place] = placeOf(key.slice(folder.length));
          if (place !== undefined && place.storedAt <= notAfter) going.push(key);
          else isGone = false;
        }
      for (const key of going) await bucket.remove(key);
      return (await cache.remove(sha256, notAfter)) && isGone;
    },
    async dropCopies(inUse) {
      await dropDeleted({ bucket, folder, cache }, inUse);
      const before = Date.now() - copyMs;
      for await (const copies of cache.old(before)) {
        const used = await inUse(copies);
        for (const sha256 of copies) {
          if (used.has(sha256)) await share(sha256);
          await cache.remove(sha256, before);
        }
      }
    },
  };
}

type Place = Pick<SharedArtifactsOptions, "bucket" | "cache"> & { readonly folder: string };

/** Removes the copies of what another machine has deleted. */
async function dropDeleted(
  { bucket, cache, folder }: Place,
  inUse: (hashes: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<void> {
  const before = Date.now() - arrivingMs;
  for await (const copies of cache.old(before)) {
    const used = await inUse(copies);
    for (const sha256 of copies)
      if (!used.has(sha256) && !(await isIn(bucket, `${folder}${sha256}/`))) await cache.remove(sha256, before);
  }
}

/** Whether there is anything below a prefix. */
async function isIn(bucket: Bucket, prefix: string): Promise<boolean> {
  for await (const keys of bucket.list(prefix, 1)) if (keys.length > 0) return true;
  return false;
}

/** What a key below the prefix says; nothing for an object that is not ours. */
function placeOf(key: string): readonly { readonly sha256: string; readonly storedAt: number }[] {
  const [sha256 = "", id = "", ...more] = key.split("/");
  const storedAt = Number.parseInt(id.replace("-", "").slice(0, 12), 16);
  return isSha256(sha256) && more.length === 0 && Number.isFinite(storedAt) ? [{ sha256, storedAt }] : [];
}

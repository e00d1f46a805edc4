import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, unlessMissing } from "../../../core/errors.ts";
import { withoutLastSlashes } from "../../../core/text/without-last-slashes.ts";
import type { Bucket } from "../artifacts/bucket.ts";
import type { Owner } from "../held-folder.ts";
import { readJson, writeJson } from "../own-files/json-file.ts";
import { removeStale } from "../own-files/remove-stale.ts";
import { type Manifest, type Marker, manifestSchema, markerName, markerSchema } from "./manifest.ts";
import { packChanges } from "./pack-changes.ts";
import { restoreInto } from "./restore.ts";
import { type FoundFile, walk } from "./walk.ts";

/** Where the workspaces of a home are, and where they are stored. */
export type WorkspaceCheckpointsOptions = {
  readonly home: string;
  readonly bucket: Bucket;
  /** What the keys start with. */
  readonly prefix: string;
  /** Most bytes of a workspace. */
  readonly maxBytes: number;
  /** The user that tool processes run as, if not our own. */
  readonly user?: Owner | undefined;
};

/** Stores workspaces so that another machine can go on with them. */
export type WorkspaceCheckpoints = {
  /** What this machine remembers of a workspace; undefined if it is not here. */
  marker(name: string): Promise<Marker | undefined>;
  /** Notes under which epoch the workspace that is here goes on. */
  adopt(name: string, epoch: number): Promise<void>;
  /**
   * Stores what changed since the newest checkpoint; `keep` records its id, and says whether that
   * counts. Rejects with `too_large` for a workspace that is too large.
   */
  save(name: string, epoch: number, keep: (checkpoint: string) => Promise<boolean>): Promise<void>;
  /** Puts a checkpoint in the place of what is here; nothing, if there is no checkpoint. */
  restore(name: string, epoch: number, checkpoint: string | null): Promise<void>;
  /** The names of workspaces here that are, or were, stored. */
  here(): Promise<readonly string[]>;
  /** Removes all that was stored of a workspace. */
  clear(name: string): Promise<void>;
};

type Stored = Pick<Marker, "checkpoint" | "manifest">;

/** The checkpoints of a home's workspaces in a bucket. */
export function createWorkspaceCheckpoints({
  home,
  bucket,
  prefix,
  maxBytes,
  user,
}: WorkspaceCheckpointsOptions): WorkspaceCheckpoints {
  const workspaces = join(home, "workspaces");
  const working = join(workspaces, ".checkpoints");
  const place = (name: string) => join(workspaces, name);
  const base = withoutLastSlashes(prefix);
  const keysOf = (name: string) => `${base === "" ? "" : `${base}-`}workspaces/${name}/`;
  const marker = (name: string) => readJson(join(place(name), markerName), markerSchema);
  const note = (name: string, noted: Marker) => writeJson(join(place(name), markerName), noted);
  /** Removes what no checkpoint needs; what stays behind goes with the conversation. */
  async function tidy(name: string, old: Stored | undefined, now: Manifest | null | undefined): Promise<void> {
    const packs = Object.keys(old?.manifest?.packs ?? {}).filter((id) => now?.packs[id] === undefined);
    const lists = old?.checkpoint ? [old.checkpoint] : [];
    for (const key of [...packs.map((id) => `${id}.pack`), ...lists.map((id) => `${id}.list`)])
      await bucket.remove(`${keysOf(name)}${key}`).catch(() => undefined);
  }

  async function listOf(name: string, checkpoint: string): Promise<Manifest> {
    const stream = await bucket.download(`${keysOf(name)}${checkpoint}.list`);
    // One that is gone is no list either.
    const packed = await new Response(stream).bytes();
    try {
      return manifestSchema.parse(JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(packed))));
    } catch (cause) {
      throw unreadable(cause);
    }
  }

  return {
    marker,
    async adopt(name, epoch) {
      const known = await marker(name);
      await mkdir(place(name), { recursive: true, mode: 0o711 });
      await note(name, { ...(known ?? { checkpoint: null, manifest: null, seen: {} }), epoch });
    },
    async save(name, epoch, keep) {
      const old = await marker(name);
      const staging = await stagingIn(working);
      try {
        const { manifest, seen, pack, isSame } = await packChanges(place(name), old, { staging, maxBytes, user });
        if (isSame) return;
        if (pack !== undefined) await bucket.upload(`${keysOf(name)}${pack.id}.pack`, Bun.file(pack.file));
        const list = join(staging, "list");
        await writeFile(list, Bun.zstdCompressSync(JSON.stringify(manifest)));
        const checkpoint = Bun.randomUUIDv7();
        await bucket.upload(`${keysOf(name)}${checkpoint}.list`, Bun.file(list));
        // Another one holds the conversation by now: what was stored for nothing is removed.
        if (!(await keep(checkpoint))) return await tidy(name, { checkpoint, manifest }, old?.manifest);
        await note(name, { epoch, checkpoint, manifest, seen });
        await tidy(name, old, manifest);
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },
    async restore(name, epoch, checkpoint) {
      const arriving = await stagingIn(working);
      try {
        const manifest = checkpoint === null ? null : await listOf(name, checkpoint);
        const packOf = (id: string) => bucket.download(`${keysOf(name)}${id}.pack`);
        if (manifest !== null) await restoreInto(arriving, manifest, { packOf, user });
        const seen = await stampsIn(arriving);
        await writeJson(join(arriving, markerName), { epoch, checkpoint, manifest, seen } satisfies Marker);
        const before = await stagingIn(working);
        await rename(place(name), join(before, name)).catch(unlessMissing);
        await rename(arriving, place(name));
        await rm(before, { recursive: true, force: true }).catch(() => undefined);
      } finally {
        await rm(arriving, { recursive: true, force: true });
      }
    },
    async here() {
      const names = (await readdir(workspaces).catch(unlessMissing)) ?? [];
      const isStored = await Promise.all(names.map((name) => Bun.file(join(place(name), markerName)).exists()));
      return names.filter((_, at) => isStored[at]);
    },
    async clear(name) {
      for await (const keys of bucket.list(keysOf(name))) for (const key of keys) await bucket.remove(key);
    },
  };
}

/** A new folder below this one, for a while. */
async function stagingIn(working: string): Promise<string> {
  await mkdir(working, { recursive: true, mode: 0o700 });
  await removeStale(working);
  return mkdtemp(join(working, "at-"));
}

async function stampsIn(folder: string): Promise<Marker["seen"]> {
  const seen: Record<string, string> = {};
  const file = async ({ path, stamp }: FoundFile) => {
    seen[path] = stamp;
  };
  await walk(folder, { folders: [], links: [], file }, undefined);
  return seen;
}

function unreadable(cause?: unknown): AppError {
  return new AppError("storage_unavailable", "The list of a stored workspace's files cannot be read.", { cause });
}

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import { s3Credentials, startS3 } from "../../../testing/machine/s3-server.ts";
import { type Bucket, openBucket } from "../artifacts/bucket.ts";
import { createWorkspaceCheckpoints } from "./checkpoints.ts";
import { writePack } from "./pack.ts";
import { packChanges } from "./pack-changes.ts";

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "manyhands-packs-"));
});
afterEach(() => rm(base, { recursive: true }));

test("only a regular file itself goes into a pack, and no more bytes than it may have", async () => {
  await writeFile(join(base, "file"), "0123456789");
  await symlink("file", join(base, "link"));
  Bun.spawnSync(["mkfifo", join(base, "pipe")]);
  const pack = writePack(join(base, "pack"), 20);
  const added = (at: number) => ({ at, size: 10, sha256: sha256Of("0123456789") });
  expect(await pack.add(join(base, "file"))).toEqual(added(0));
  await expect(pack.add(join(base, "link"))).rejects.toMatchObject({ code: "ELOOP" });
  for (const other of ["pipe", "."]) expect(await pack.add(join(base, other))).toBeUndefined();
  expect(await pack.add(join(base, "file"))).toEqual(added(10));
  expect(pack.size()).toBe(20);
  await writeFile(join(base, "file"), "x");
  await expect(pack.add(join(base, "file"))).rejects.toMatchObject({ code: "too_large" });
  await pack.end();
  const unpacked = Bun.zstdDecompressSync(await readFile(join(base, "pack"))).toString();
  expect(unpacked.slice(0, 20)).toBe("01234567890123456789");
});

test("everything is packed anew where there are many packs, or most of what they hold is of no use", async () => {
  await mkdir(join(base, "ws/files"), { recursive: true });
  await writeFile(join(base, "ws/files/a"), "0123456789");
  const pack = async (old: Parameters<typeof packChanges>[1]) => {
    const staging = await mkdtemp(join(base, "staging-"));
    return await packChanges(join(base, "ws"), old, { staging, maxBytes: 1_000, user: undefined });
  };
  const { manifest, seen } = await pack(undefined);
  const [own = ""] = Object.keys(manifest.packs);
  const others = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, () => [crypto.randomUUID(), 0] as const));
  for (const [packs, isAnew] of [
    [manifest.packs, false],
    [{ [own]: 20 }, false],
    [{ [own]: 21 }, true],
    [{ [own]: 10, ...others(49) }, false],
    [{ [own]: 10, ...others(50) }, true],
  ] as const) {
    const packed = await pack({ manifest: { ...manifest, packs }, seen });
    expect([packs, packed.pack !== undefined]).toEqual([packs, isAnew]);
    expect(Object.keys(packed.manifest.packs)).toEqual([packed.pack?.id ?? own]);
  }
});

test("a folder is the same however its names come, and one without files has what we keep beside them", async () => {
  await mkdir(join(base, "ws/meta"), { recursive: true });
  for (const path of ["b", "a", "c"]) await writeFile(join(base, "ws/meta", path), path);
  const staging = await mkdtemp(join(base, "staging-"));
  const { manifest } = await packChanges(join(base, "ws"), undefined, { staging, maxBytes: 1_000, user: undefined });
  expect(manifest.files.map(({ path }) => path)).toEqual(["meta/a", "meta/b", "meta/c"]);
});

const name = "0123456789abcdef0123456789abcdef";

function homeWith(bucket: Bucket) {
  const home = join(base, crypto.randomUUID());
  const options = { home, bucket, prefix: "p", maxBytes: 1_000_000 };
  return { files: join(home, "workspaces", name, "files"), ...createWorkspaceCheckpoints(options) };
}

test("a file that was changed is stored, also where its size and its time are as they were", async () => {
  await using server = startS3();
  const [mine, theirs] = [0, 1].map(() => homeWith(openBucket({ endpoint: server.endpoint, ...s3Credentials })));
  if (mine === undefined || theirs === undefined) throw new Error("no homes");
  const path = join(mine.files, "a.txt");
  await mkdir(mine.files, { recursive: true });
  await writeFile(path, "one");
  await utimes(path, 1_000, 1_000);
  let stored = "";
  const save = () =>
    mine.save(name, 1, async (id) => {
      stored = id;
      return true;
    });
  await save();
  await writeFile(path, "two");
  await utimes(path, 1_000, 1_000);
  await save();
  await theirs.restore(name, 2, stored);
  expect(await readFile(join(theirs.files, "a.txt"), "utf8")).toBe("two");
  // Who takes it over goes on under an epoch of its own.
  await theirs.adopt(name, 7);
  expect(await theirs.marker(name)).toMatchObject({ epoch: 7, checkpoint: stored });
});

test("what is not stored whole is no checkpoint, and what was half made long ago is removed", async () => {
  const uploads: string[] = [];
  const bucket = {
    async upload(key: string) {
      uploads.push(key.replace(/^.*\./, ""));
      if (key.endsWith(".list")) throw new Error("the store is away");
    },
  } as unknown as Bucket;
  const mine = homeWith(bucket);
  await mkdir(mine.files, { recursive: true });
  await writeFile(join(mine.files, "a.txt"), "one");
  const working = join(mine.files, "../../.checkpoints");
  for (const left of ["at-old", "at-new"]) await mkdir(join(working, left), { recursive: true });
  const longAgo = new Date(Date.now() - 48 * 60 * 60 * 1000);
  await utimes(join(working, "at-old"), longAgo, longAgo);
  let kept = 0;
  const saving = mine.save(name, 1, async () => kept++ >= 0);
  await expect(saving).rejects.toThrow("the store is away");
  expect([uploads, kept, await mine.marker(name)]).toEqual([["pack", "list"], 0, undefined]);
  expect(await readdir(working)).toEqual(["at-new"]);
});

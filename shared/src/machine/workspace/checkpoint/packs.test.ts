import { afterEach, beforeEach, expect, test } from "bun:test";
import { chown, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import { sha256Of } from "../../../core/text/sha256.ts";
import { s3Credentials, startS3 } from "../../../testing/machine/s3-server.ts";
import { type Bucket, openBucket } from "../artifacts/bucket.ts";
import { createWorkspaceCheckpoints } from "./checkpoints.ts";
import { manifestSchema } from "./manifest.ts";
import { writePack } from "./pack.ts";
import { packChanges } from "./pack-changes.ts";
import { restoreInto } from "./restore.ts";

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

test("what is stored already counts against the size that a workspace may have", async () => {
  await mkdir(join(base, "ws/files"), { recursive: true });
  const pack = async (old: Parameters<typeof packChanges>[1]) => {
    const staging = await mkdtemp(join(base, "staging-"));
    return await packChanges(join(base, "ws"), old, { staging, maxBytes: 100, user: undefined });
  };
  await writeFile(join(base, "ws/files/a"), new Uint8Array(60));
  const old = await pack(undefined);
  await writeFile(join(base, "ws/files/b"), new Uint8Array(41));
  await expect(pack(old)).rejects.toMatchObject({ code: "too_large" });
  await writeFile(join(base, "ws/files/b"), new Uint8Array(40));
  expect((await pack(old)).manifest.files.map(({ size }) => size)).toEqual([60, 40]);
});

test("a download that breaks off is told as it broke, and one whose files cannot be written ends", async () => {
  const pack = crypto.randomUUID();
  const content = crypto.getRandomValues(new Uint8Array(60_000));
  const packed = Bun.zstdCompressSync(content);
  const file = { path: "files/a", mode: 0o600, modifiedAt: 1, size: content.length, sha256: "", pack, at: 0 };
  const folders = [{ path: "files", mode: 0o700 }];
  const manifest = { version: 1 as const, folders, links: [], files: [file], packs: {} };
  const ended = Promise.withResolvers<void>();
  const stream = (then: (stream: ReadableStreamDefaultController) => void) => {
    let isBegun = false;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        if (isBegun) return then(controller);
        isBegun = true;
        controller.enqueue(packed.subarray(0, 30_000));
      },
      cancel: () => ended.resolve(),
    });
  };
  const away = new AppError("storage_unavailable", "The store does not answer.");
  const broken = stream((controller) => controller.error(away));
  const into = (folder: string, packOf: () => Promise<ReadableStream<Uint8Array>>) =>
    restoreInto(join(base, folder), manifest, { packOf, user: undefined });
  await expect(into("one", async () => broken)).rejects.toBe(away);
  await mkdir(join(base, "two/files/a"), { recursive: true });
  // More of it never comes.
  await expect(into("two", async () => stream(() => undefined))).rejects.toMatchObject({
    code: "storage_unavailable",
    message: "What was stored of a workspace cannot be written here (EEXIST).",
  });
  await ended.promise;
});

test.each([
  ["files/a\0b", {}],
  ["files/..", {}],
  ["files/a", { version: 2 }],
  ["files/a", { files: [{ pack: "../../another" }] }],
])("a list with the path %j that says %j is none of ours", (path, more) => {
  const pack = crypto.randomUUID();
  const file = { path, mode: 0o600, modifiedAt: 1, size: 1, sha256: "", pack, at: 0 };
  const list = { version: 1, folders: [], links: [], packs: {}, ...more };
  const files = "files" in more ? more.files.map((one) => ({ ...file, ...one })) : [file];
  expect(manifestSchema.safeParse({ ...list, files }).success).toBe(false);
  const good = { ...list, version: 1, files: [{ ...file, path: "files/a" }] };
  expect(manifestSchema.safeParse(good).success).toBe(true);
});

test("a home without workspaces has none here, and nobody else looks into what is being made", async () => {
  const mine = homeWith(nothing);
  expect(await mine.here()).toEqual([]);
  await mine.adopt(name, 1);
  await mine.restore(name, 2, null);
  await mine.adopt("another", 1);
  const modes = ["../../another", "../../.checkpoints"].map(async (path) => (await stat(join(mine.files, path))).mode);
  expect((await Promise.all(modes)).map((mode) => mode & 0o777)).toEqual([0o711, 0o700]);
});

test.each([
  ["", "workspaces"],
  ["team", "team-workspaces"],
  ["team//", "team-workspaces"],
])("below the prefix %j a workspace is stored in %s", async (prefix, folder) => {
  const keys: string[] = [];
  const bucket = { ...nothing, upload: async (key: string) => void keys.push(key) };
  const mine = homeWith(bucket, prefix);
  await mkdir(mine.files, { recursive: true });
  await writeFile(join(mine.files, "a.txt"), "one");
  await mine.save(name, 1, async () => true);
  expect(keys.map((key) => key.replace(/[0-9a-f-]{36}/, "ID"))).toEqual([
    `${folder}/${name}/ID.pack`,
    `${folder}/${name}/ID.list`,
  ]);
});

test.skipIf(process.getuid?.() !== 0)("a file of the tools' own that has two names is stored under both", async () => {
  const user = { uid: 65_534, gid: 65_534 };
  await mkdir(join(base, "ws/files"), { recursive: true });
  await writeFile(join(base, "ws/files/a"), "own");
  await chown(join(base, "ws/files/a"), user.uid, user.gid);
  await link(join(base, "ws/files/a"), join(base, "ws/files/b"));
  const staging = await mkdtemp(join(base, "staging-"));
  const { manifest } = await packChanges(join(base, "ws"), undefined, { staging, maxBytes: 100, user });
  expect(manifest.files.map(({ path }) => path)).toEqual(["files/a", "files/b"]);
});

const name = "0123456789abcdef0123456789abcdef";

/** A bucket that has nothing. */
const nothing: Bucket = {
  upload: async () => undefined,
  download: async () => undefined,
  async *list() {},
  remove: async () => undefined,
};

function homeWith(bucket: Bucket, prefix = "p") {
  const home = join(base, crypto.randomUUID());
  const options = { home, bucket, prefix, maxBytes: 1_000_000 };
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

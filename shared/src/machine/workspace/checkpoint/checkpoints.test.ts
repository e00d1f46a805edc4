import { afterAll, expect, test } from "bun:test";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type S3Server, s3Credentials, startS3 } from "../../../testing/machine/s3-server.ts";
import { openBucket } from "../artifacts/bucket.ts";
import type { Owner } from "../held-folder.ts";
import { createWorkspaceCheckpoints } from "./checkpoints.ts";

const base = await mkdtemp(join(tmpdir(), "manyhands-checkpoints-"));
afterAll(() => rm(base, { recursive: true }));

const name = "0123456789abcdef0123456789abcdef";

/** Two homes with one bucket. */
function two(server: S3Server, { maxBytes = 10_000_000, user }: { maxBytes?: number; user?: Owner } = {}) {
  const bucket = openBucket({ endpoint: server.endpoint, ...s3Credentials });
  const homeOf = () => {
    const home = join(base, crypto.randomUUID());
    return {
      files: join(home, "workspaces", name),
      ...createWorkspaceCheckpoints({ home, bucket, prefix: "p", maxBytes, user }),
    };
  };
  return [homeOf(), homeOf()] as const;
}

async function write(folder: string, path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(join(folder, path, ".."), { recursive: true });
  await writeFile(join(folder, path), content);
}

const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

/** Stores what is there, and returns its id. */
async function saved(one: ReturnType<typeof two>[0], epoch: number): Promise<string | undefined> {
  let id: string | undefined;
  await one.save(name, epoch, async (checkpoint) => {
    id = checkpoint;
    return true;
  });
  return id;
}

test("a workspace is made again elsewhere: contents, modes, times, empty files and folders, links", async () => {
  await using server = startS3();
  const [mine, theirs] = two(server);
  const large = crypto.getRandomValues(new Uint8Array(60_000));
  for (let n = 0; n < 40; n++)
    await write(mine.files, `files/many/${n}.bin`, large.subarray(n * 100, 40_000 + n * 500));
  await write(mine.files, "files/deep/er/empty.txt", "");
  await write(mine.files, "files/run.sh", "#!/bin/sh\n");
  await chmod(join(mine.files, "files/run.sh"), 0o755);
  await mkdir(join(mine.files, "files/empty"));
  await chmod(join(mine.files, "files/empty"), 0o710);
  await symlink("deep/er/empty.txt", join(mine.files, "files/link"));
  await symlink("/etc/passwd", join(mine.files, "files/outside"));
  await write(mine.files, "meta/plans/a.json", "{}");
  await write(mine.files, "meta/staging/half", "not finished");
  const id = (await saved(mine, 1)) ?? "";
  await write(theirs.files, "files/stale.txt", "from long ago");
  await theirs.restore(name, 2, id);
  for (let n = 0; n < 40; n++)
    expect(await readFile(join(theirs.files, `files/many/${n}.bin`))).toEqual(
      Buffer.from(large.subarray(n * 100, 40_000 + n * 500)),
    );
  expect(await readFile(join(theirs.files, "files/deep/er/empty.txt"), "utf8")).toBe("");
  const [before, after] = await Promise.all([mine, theirs].map(({ files }) => stat(join(files, "files/run.sh"))));
  expect([after?.mode, Math.floor(after?.mtimeMs ?? 0)]).toEqual([before?.mode, Math.floor(before?.mtimeMs ?? 1)]);
  const empty = await stat(join(theirs.files, "files/empty"));
  expect([empty.isDirectory(), empty.mode & 0o777]).toEqual([true, 0o710]);
  expect(await readlink(join(theirs.files, "files/link"))).toBe("deep/er/empty.txt");
  expect(await readlink(join(theirs.files, "files/outside"))).toBe("/etc/passwd");
  expect(await readFile(join(theirs.files, "meta/plans/a.json"), "utf8")).toBe("{}");
  for (const gone of ["files/stale.txt", "meta/staging"])
    expect(await stat(join(theirs.files, gone)).catch(() => "gone")).toBe("gone");
});

test("only what changed is sent, nothing if nothing did, and what no checkpoint needs is removed", async () => {
  await using server = startS3();
  const [mine, theirs] = two(server);
  await write(mine.files, "files/large.bin", crypto.getRandomValues(new Uint8Array(50_000)));
  await write(mine.files, "files/a.txt", "one");
  await saved(mine, 1);
  const size = () => [...server.objects.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  const first = size();
  expect(await saved(mine, 1)).toBeUndefined();
  await write(mine.files, "files/a.txt", "two");
  const second = (await saved(mine, 1)) ?? "";
  expect(size()).toBeLessThan(first + 2_000);
  expect([...server.objects.keys()].filter((key) => key.endsWith(".list"))).toEqual([
    `p-workspaces/${name}/${second}.list`,
  ]);
  await theirs.restore(name, 2, second);
  await theirs.restore(name, 2, second);
  expect(await readFile(join(theirs.files, "files/a.txt"), "utf8")).toBe("two");
  // Nothing is left of what was made on the way, or was here before.
  for (const { files } of [mine, theirs]) expect(await readdir(join(files, "..", ".checkpoints"))).toEqual([]);
  expect(await theirs.here()).toEqual([name]);
  // What was restored is known, so that nothing of it is sent again.
  expect(await saved(theirs, 2)).toBeUndefined();
  await rm(join(theirs.files, "files/large.bin"));
  await saved(theirs, 2);
  expect(size()).toBeLessThan(5_000);
  await theirs.clear(name);
  expect(server.objects.size).toBe(0);
});

test("what was stored for nothing leaves the checkpoint that counts as it is", async () => {
  await using server = startS3();
  const [mine, theirs] = two(server);
  await write(mine.files, "files/a.txt", "one");
  await write(mine.files, "files/large.bin", new Uint8Array(1_000));
  const first = (await saved(mine, 1)) ?? "";
  const kept = [...server.objects.keys()].toSorted();
  await write(mine.files, "files/a.txt", "two, by one who holds it no more");
  await mine.save(name, 1, async () => false);
  expect([...server.objects.keys()].toSorted()).toEqual(kept);
  await theirs.restore(name, 2, first);
  expect(await readFile(join(theirs.files, "files/a.txt"), "utf8")).toBe("one");
});

test("what cannot be removed any more is no reason to count a workspace as not stored", async () => {
  await using server = startS3();
  const [mine] = two(server);
  await write(mine.files, "files/a.txt", "one");
  await saved(mine, 1);
  await write(mine.files, "files/a.txt", "two");
  server.failNext("DELETE", 403, 10);
  const second = await saved(mine, 1);
  expect(await mine.marker(name)).toMatchObject({ epoch: 1, checkpoint: second });
});

test("a damaged or missing checkpoint is no workspace: what is here stays, and nothing half made is left", async () => {
  await using server = startS3();
  const [mine, theirs] = two(server);
  await write(mine.files, "files/a.txt", "one");
  const id = (await saved(mine, 1)) ?? "";
  await write(theirs.files, "files/here.txt", "here");
  const [pack = ""] = [...server.objects.keys()].filter((key) => key.endsWith(".pack"));
  const content = server.objects.get(pack) ?? new Uint8Array();
  for (const damaged of [Bun.zstdCompressSync("oNe"), content.slice(0, -3), undefined]) {
    if (damaged === undefined) server.objects.delete(pack);
    else server.objects.set(pack, damaged);
    const why = { code: "storage_unavailable", message: expect.stringContaining("does not hold what was stored") };
    await expect(theirs.restore(name, 2, id)).rejects.toMatchObject(why);
    expect(await readFile(join(theirs.files, "files/here.txt"), "utf8")).toBe("here");
  }
  await expect(theirs.restore(name, 2, crypto.randomUUID())).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(await readdir(join(theirs.files, "..", ".checkpoints"))).toEqual([]);
});

test("a list that leads out of its folder, or gives a file more than its mode, is refused", async () => {
  await using server = startS3();
  const [mine] = two(server);
  const id = crypto.randomUUID();
  const put = (list: object) => {
    const whole = { version: 1, folders: [{ path: "files", mode: 0o700 }], links: [], files: [], packs: {}, ...list };
    server.objects.set(`p-workspaces/${name}/${id}.list`, Bun.zstdCompressSync(JSON.stringify(whole)));
  };
  const refused = () => expect(mine.restore(name, 1, id)).rejects.toMatchObject({ code: "storage_unavailable" });
  const pack = crypto.randomUUID();
  const evil = { path: "files/a/evil", mode: 0o600, modifiedAt: 1, size: 1, sha256: hashOf("x"), pack, at: 0 };
  server.objects.set(`p-workspaces/${name}/${pack}.pack`, Bun.zstdCompressSync("x"));
  for (const mode of [0o4755, 0o2755, 0o1777]) {
    put({ folders: [{ path: "files", mode }] });
    await refused();
    put({ files: [{ ...evil, path: "files/evil", mode }] });
    await refused();
  }
  // Nothing is written through a link that the same list makes.
  const outside = await mkdtemp(join(base, "outside-"));
  put({ files: [evil], links: [{ path: "files/a", target: outside }] });
  await expect(mine.restore(name, 1, id)).rejects.toThrow("cannot be written here (ENOENT)");
  expect(await readdir(outside)).toEqual([]);
  for (const path of ["files/../../x", "/etc/x", "elsewhere/x", "files//x"]) {
    put({ folders: [{ path, mode: 0o700 }] });
    await refused();
  }
});

test("a workspace that is too large is refused", async () => {
  await using server = startS3();
  const [mine] = two(server, { maxBytes: 1_000 });
  await write(mine.files, "files/a.bin", new Uint8Array(1_001));
  await expect(saved(mine, 1)).rejects.toMatchObject({ code: "too_large" });
  expect(server.objects.size).toBe(0);
  await write(mine.files, "files/a.bin", new Uint8Array(1_000));
  expect(await saved(mine, 1)).toBeDefined();
});

test.skipIf(process.getuid?.() !== 0)(
  "files come back as the user's that tools run as, and what tools must not see stays ours",
  async () => {
    await using server = startS3();
    const user = { uid: 65534, gid: 65534 };
    const [mine, theirs] = two(server, { user });
    await write(mine.files, "files/folder/a.txt", "a");
    await symlink("a.txt", join(mine.files, "files/folder/link"));
    await write(mine.files, "meta/plan.json", "{}");
    // Another name of a file that is not theirs.
    await write(mine.files, "meta/secret", "ours");
    await link(join(mine.files, "meta/secret"), join(mine.files, "files/folder/secret"));
    await theirs.restore(name, 2, (await saved(mine, 1)) ?? "");
    const ownerOf = async (path: string) => (await lstat(join(theirs.files, path))).uid;
    for (const path of ["files", "files/folder", "files/folder/a.txt", "files/folder/link"])
      expect([path, await ownerOf(path)]).toEqual([path, user.uid]);
    for (const path of ["meta", "meta/plan.json"]) expect([path, await ownerOf(path)]).toEqual([path, 0]);
    expect(await ownerOf("files/folder/secret").catch(() => "left out")).toBe("left out");
  },
);

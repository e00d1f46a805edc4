import { expect, spyOn, test } from "bun:test";
import { statSync } from "node:fs";
import { mkdir, mkdtemp, open, rename, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { createArtifactStore, storeFile } from "./artifact-store.ts";

async function folderForTest() {
  const path = await mkdtemp(join(tmpdir(), "manyhands-"));
  return {
    path,
    files: () => [...new Bun.Glob("**/*").scanSync({ cwd: path })],
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

test("content is found by its hash, and equal content is stored once", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const first = await store.put(new TextEncoder().encode("hello"), { name: "a.csv" });
  const second = await store.put(new Blob(["hello"]).stream(), { name: "b.bin", mediaType: "text/x-own" });
  expect(first).toEqual({
    sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    name: "a.csv",
    mediaType: "text/csv",
    size: 5,
  });
  expect(second).toEqual({ ...first, name: "b.bin", mediaType: "text/x-own" });
  expect(folder.files()).toEqual([`2c/${first.sha256}`]);
  expect(await (await store.get(first.sha256))?.text()).toBe("hello");
});

test("the hash is of the whole content, however many pieces it comes in", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const pieces = ["he", "", "l", "lo"].map((piece) => new TextEncoder().encode(piece));
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  });
  const stored = await store.put(stream, { name: "a.csv" });
  expect(stored).toMatchObject({
    sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    size: 5,
  });
  expect(await (await store.get(stored.sha256))?.text()).toBe("hello");
});

test("missing content, or an invalid hash, gives undefined", async () => {
  await using folder = await folderForTest();
  await writeFile(join(folder.path, "secret"), "s");
  const store = createArtifactStore(folder.path);
  for (const sha256 of ["0".repeat(64), "../secret", "", "A".repeat(64)])
    expect(await store.get(sha256)).toBeUndefined();
});

test("content above the limit is refused while it streams, and leaves nothing", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path, { maxBytes: 1000 });
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++;
      controller.enqueue(new Uint8Array(600));
    },
  });
  await expect(store.put(endless, { name: "x" })).rejects.toMatchObject({ code: "too_large" });
  expect(pulled).toBeLessThan(10);
  expect((await store.put(new Uint8Array(1000), { name: "x" })).size).toBe(1000);
  expect(folder.files()).toHaveLength(1);
});

test("the same content put many times at once is stored once", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  await Promise.all(Array.from({ length: 10 }, () => store.put(new Uint8Array(100_000), { name: "x" })));
  expect(folder.files()).toHaveLength(1);
});

test("names from outside lose their folders and control characters", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const names = ["../../x.png", "C:\\temp\\y.pdf", "a\r\nb.txt", "..", "/", ".", "", `${"n".repeat(201)}`];
  const kept = await Promise.all(names.map(async (name) => (await store.put(new Uint8Array(), { name })).name));
  expect(kept).toEqual(["x.png", "y.pdf", "ab.txt", "file", "file", "file", "file", "n".repeat(200)]);
});

test("a file of the workspace is stored by its name, without holding it in memory", async () => {
  await using folder = await folderForTest();
  await using place = await workspaceForTest();
  const path = join(place.workspace.root, "big.parquet");
  const size = 240_000_000;
  await writeFile(path, "manyhands");
  await truncate(path, size);
  const store = createArtifactStore(folder.path);
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const kept = await storeFile(place.workspace, store, "big.parquet");
  expect(process.memoryUsage.rss() - before).toBeLessThan(size / 2);
  expect(kept).toMatchObject({ name: "big.parquet", size, mediaType: "application/vnd.apache.parquet" });
  expect(await (await store.get(kept.sha256))?.slice(0, 9).text()).toBe("manyhands");
});

test("a file that leads outside is not stored", async () => {
  await using folder = await folderForTest();
  await using place = await workspaceForTest();
  await symlink("/etc/passwd", join(place.workspace.root, "report.txt"));
  const store = createArtifactStore(folder.path, { maxBytes: 10 });
  await expect(storeFile(place.workspace, store, "report.txt")).rejects.toMatchObject({ code: "forbidden" });
  await writeFile(join(place.workspace.root, "long.txt"), "x".repeat(11));
  await expect(storeFile(place.workspace, store, "long.txt")).rejects.toMatchObject({ code: "too_large" });
});

test.each([
  ["ENOSPC", "storage_unavailable"],
  ["EDQUOT", "storage_unavailable"],
  ["EROFS", "storage_unavailable"],
  ["EIO", "storage_unavailable"],
  ["ECONNRESET", "ECONNRESET"],
])("content that fails with %s is refused with %s, and leaves nothing", async (errno, code) => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const cause = Object.assign(new Error(errno), { code: errno });
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(cause) });
  await expect(store.put(broken, { name: "x" })).rejects.toMatchObject({ code });
  expect(folder.files()).toEqual([]);
});

test("content is on the disk before it has its name, and its name before it counts as kept", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const own = await open(folder.path, "r");
  const handles = Object.getPrototypeOf(own);
  await own.close();
  const synced: string[][] = [];
  const { sync } = handles;
  using _ = spyOn(handles, "sync").mockImplementation(async function (this: unknown) {
    synced.push(folder.files().map((file) => file.split("/")[0] ?? ""));
    await sync.call(this);
  });
  await store.put(new TextEncoder().encode("hello"), { name: "x" });
  expect(synced).toEqual([["arriving"], ["2c"]]);
});

test("what a killed process left arriving is removed, and what arrives now is not", async () => {
  await using folder = await folderForTest();
  const arriving = join(folder.path, "arriving");
  await mkdir(arriving);
  for (const name of ["old", "new"]) await writeFile(join(arriving, name), "half");
  const longAgo = new Date(Date.now() - 48 * 60 * 60 * 1000);
  await utimes(join(arriving, "old"), longAgo, longAgo);
  await createArtifactStore(folder.path).put(new Uint8Array(), { name: "x" });
  expect(folder.files().filter((file) => file.startsWith("arriving"))).toEqual(["arriving/new"]);
});

test("a hash that names another place finds nothing, even where a file is there", async () => {
  await using folder = await folderForTest();
  const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
  const store = createArtifactStore(folder.path);
  await store.put(new TextEncoder().encode("hello"), { name: "x" });
  for (const name of [`${hash}0`, `x${hash}`, hash.toUpperCase(), "..", "../x"]) {
    await mkdir(join(folder.path, name.slice(0, 2)), { recursive: true });
    await writeFile(join(folder.path, name.slice(0, 2), name), "s").catch(() => {});
    expect(await store.get(name)).toBeUndefined();
  }
  expect(await store.get(hash)).toBeDefined();
});

test("a described content has the hash, name and type that it would be stored under", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const content = new TextEncoder().encode("a,b");
  for (const about of [{ name: "../a.csv" }, { name: "b", mediaType: "text/x-own" }])
    expect(store.describe(content, about)).toEqual(await store.put(content, about));
});

test("what is old is listed by its hash, page by page, and nothing else that is there", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const [old, edge] = await Promise.all(
    ["hello", "edge"].map((text) => store.put(new TextEncoder().encode(text), { name: "x" })),
  );
  await store.put(new TextEncoder().encode("new"), { name: "x" });
  const placeOf = (sha256 = "") => join(folder.path, sha256.slice(0, 2), sha256);
  await utimes(placeOf(old?.sha256), 999, 999);
  await utimes(placeOf(edge?.sha256), 1_000, 1_000);
  await writeFile(join(folder.path, "2c", "notes"), "of others");
  await utimes(join(folder.path, "2c", "notes"), 1, 1);
  expect((await Array.fromAsync(store.old(1_000_000))).flat()).toEqual([old?.sha256 as string]);
  // Others may not list what is there.
  expect(statSync(join(folder.path, "2c")).mode & 0o777).toBe(0o700);
});

test("a removal that was cut off is undone by the next one, not one that is under way, and leaves nothing", async () => {
  await using folder = await folderForTest();
  const store = createArtifactStore(folder.path);
  const { sha256 } = await store.put(new TextEncoder().encode("hello"), { name: "x" });
  await mkdir(join(folder.path, "leaving"));
  const leaving = join(folder.path, "leaving", `${sha256}.${crypto.randomUUID()}`);
  const cutOff = () => rename(join(folder.path, "2c", sha256), leaving);
  await cutOff();
  expect(await store.remove("0".repeat(64), Date.now())).toBe(true);
  expect([await store.get(sha256), await Bun.file(leaving).exists()]).toEqual([undefined, true]);
  const later = Date.now() + 61_000;
  using _ = spyOn(Date, "now").mockReturnValue(later);
  await store.remove("0".repeat(64), later);
  expect(await (await store.get(sha256))?.text()).toBe("hello");
  expect(folder.files()).toEqual([`2c/${sha256}`]);
  // Stored again meanwhile.
  await cutOff();
  await store.put(new TextEncoder().encode("hello"), { name: "x" });
  await store.remove("0".repeat(64), later);
  expect(folder.files()).toEqual([`2c/${sha256}`]);
  expect(await store.remove(sha256, later)).toBe(true);
  expect(folder.files()).toEqual([]);
});

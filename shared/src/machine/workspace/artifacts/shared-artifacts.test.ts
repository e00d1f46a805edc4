import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type S3Server, s3Credentials, startS3 } from "../../../testing/machine/s3-server.ts";
import { createArtifactStore } from "./artifact-store.ts";
import { type Bucket, openBucket } from "./bucket.ts";
import { createSharedArtifacts } from "./shared-artifacts.ts";

let s3: S3Server;
let folder: string;
beforeEach(async () => {
  s3 = startS3();
  folder = await mkdtemp(join(tmpdir(), "shared-"));
});
afterEach(async () => {
  await s3[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const hello = { sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", size: 5 };
const bytes = (text: string) => new TextEncoder().encode(text);
const bucket = () => openBucket({ ...s3Credentials, endpoint: s3.endpoint });
const cacheOf = (machine: string) => createArtifactStore(join(folder, machine));
const machine = (name: string, prefix = "team/files") =>
  createSharedArtifacts({ bucket: bucket(), prefix, cache: cacheOf(name) });
const keys = () => [...s3.objects.keys()];
const count = (method: string) => s3.requests.filter((request) => request.startsWith(`${method} `)).length;

async function all(pages: AsyncIterable<readonly string[]>): Promise<readonly string[]> {
  return (await Array.fromAsync(pages)).flat();
}

test("what one machine stored another has, with its hash, and asks for it once", async () => {
  const stored = await machine("a").put(bytes("hello"), { name: "a.csv" });
  expect(stored).toEqual({ ...hello, name: "a.csv", mediaType: "text/csv" });
  expect(keys()).toEqual([expect.stringMatching(new RegExp(`^team/files/${hello.sha256}/[0-9a-f-]{36}$`))]);
  const other = machine("b");
  const found = await Promise.all([1, 2, 3].map(() => other.get(hello.sha256)));
  for (const content of found) expect(await content?.text()).toBe("hello");
  expect(found[0]?.size).toBe(5);
  await other.get(hello.sha256);
  expect([count("GET"), count("HEAD")]).toEqual([2, 1]);
});

test("where one copy has just been removed the next one is read, and where all have there is none", async () => {
  const copies = new Map([["2", "hello"]]);
  const going: Bucket = {
    ...bucket(),
    async *list() {
      yield ["1"];
      yield ["2"];
    },
    download: async (key) => {
      const text = copies.get(key);
      return text === undefined ? undefined : new Blob([text]).stream();
    },
  };
  const store = (name: string) => createSharedArtifacts({ bucket: going, prefix: "x", cache: cacheOf(name) });
  expect(await (await store("a").get(hello.sha256))?.text()).toBe("hello");
  copies.clear();
  expect(await store("b").get(hello.sha256)).toBeUndefined();
});

test("a large file goes in parts and comes back whole", async () => {
  const large = new Uint8Array(12 * 1024 * 1024).map((_, at) => at % 251);
  const { sha256 } = await machine("a").put(new Blob([large]).stream(), { name: "large" });
  expect(count("POST")).toBeGreaterThan(0);
  const found = await machine("b").get(sha256);
  expect(found?.size).toBe(large.byteLength);
  expect((await found?.bytes()) ?? []).toEqual(large);
});

test("unknown content and invalid hashes are undefined, and other prefixes are other stores", async () => {
  await machine("a").put(bytes("hello"), { name: "a" });
  for (const sha256 of ["0".repeat(64), "../x", ""]) expect(await machine("b").get(sha256)).toBeUndefined();
  expect(await machine("b", "team").get(hello.sha256)).toBeUndefined();
  expect(await machine("b", "team/files/").get(hello.sha256)).toBeDefined();
  // What is unknown now may be stored later.
  const late = machine("late");
  const { sha256 } = late.describe(bytes("later"), { name: "x" });
  expect(await late.get(sha256)).toBeUndefined();
  await machine("a").put(bytes("later"), { name: "x" });
  expect(await (await late.get(sha256))?.text()).toBe("later");
});

test.each([
  ["an upload", 503],
  ["an upload", 403],
])("%s that is answered with %d is an error, and is not told as stored", async (_, status) => {
  s3.failNext("PUT", status, 10);
  await expect(machine("a").put(bytes("hello"), { name: "a" })).rejects.toMatchObject({ code: "storage_unavailable" });
  expect(keys()).toEqual([]);
});

test("a service that refuses, is away or answers with other content is an error, not a missing file", async () => {
  await machine("a").put(bytes("hello"), { name: "a" });
  const refused = { code: "storage_unavailable" };
  s3.failNext("GET", 500, 10);
  await expect(machine("b").get(hello.sha256)).rejects.toMatchObject(refused);
  const stranger = openBucket({ ...s3Credentials, accessKeyId: "stranger", endpoint: s3.endpoint });
  const theirs = createSharedArtifacts({ bucket: stranger, prefix: "team/files", cache: cacheOf("c") });
  await expect(theirs.get(hello.sha256)).rejects.toMatchObject(refused);
  await using damaged = startS3();
  for (const [key, content] of s3.objects) damaged.objects.set(key, content);
  damaged.damage = bytes("HELLO");
  const bad = openBucket({ ...s3Credentials, endpoint: damaged.endpoint });
  const store = createSharedArtifacts({ bucket: bad, prefix: "team/files", cache: cacheOf("d") });
  await expect(store.get(hello.sha256)).rejects.toThrow("does not hold what was stored");
  const away = openBucket({ ...s3Credentials, endpoint: "http://127.0.0.1:1" });
  const far = createSharedArtifacts({ bucket: away, prefix: "x", cache: cacheOf("e") });
  await expect(far.get(hello.sha256)).rejects.toMatchObject(refused);
});

test.each([403, 503])(
  "what the service refuses with %d is an error: neither a missing file nor one that is gone",
  async (status) => {
    await machine("a").put(bytes("hello"), { name: "a" });
    const until = Date.now() + 1;
    s3.failNext("HEAD", status, 10);
    await expect(machine("b").get(hello.sha256)).rejects.toMatchObject({ code: "storage_unavailable" });
    s3.failNext("DELETE", status, 10);
    await expect(machine("b").remove(hello.sha256, until)).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(keys()).toHaveLength(1);
  },
);

test("a service that takes a request and never answers is given up, and the reason says so", async () => {
  await using silent = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Promise<Response>(() => undefined),
  });
  const { timeout } = AbortSignal;
  using _ = spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout.call(AbortSignal, ms / 1000));
  await expect(openBucket({ ...s3Credentials, endpoint: silent.url.href }).remove("x")).rejects.toMatchObject({
    code: "storage_unavailable",
    message: "The object store does not answer.",
  });
});

test("a name that no stored content can have is not asked for, and what others keep under one stays", async () => {
  const a = machine("a");
  await Bun.write(join(folder, "x"), "of others");
  expect(await a.remove("../x", Date.now() + 1)).toBe(true);
  expect([s3.requests, await Bun.file(join(folder, "x")).text()]).toEqual([[], "of others"]);
  const theirs = `team/files/${hello.sha256}/${Bun.randomUUIDv7()}/notes`;
  s3.objects.set(theirs, bytes("of others"));
  await a.remove(hello.sha256, Date.now() + 1);
  expect([keys(), await all(a.old(Date.now() + 1))]).toEqual([[theirs], []]);
});

test("removing takes every copy stored until then, here and in the bucket, and none stored later", async () => {
  const a = machine("a");
  await a.put(bytes("hello"), { name: "a" });
  await machine("b").put(bytes("hello"), { name: "b" });
  const until = Date.now();
  expect(await a.remove(hello.sha256, until - 60_000)).toBe(false);
  expect(keys()).toHaveLength(2);
  while (Date.now() === until) await Bun.sleep(1);
  await machine("c").put(bytes("hello"), { name: "c" });
  expect(await a.remove(hello.sha256, until)).toBe(false);
  expect(keys()).toHaveLength(1);
  expect(await (await a.get(hello.sha256))?.text()).toBe("hello");
  // A file's time has parts of milliseconds.
  expect(await a.remove(hello.sha256, Date.now() + 1)).toBe(true);
  expect([keys(), await a.get(hello.sha256)]).toEqual([[], undefined]);
  expect(await a.remove("0".repeat(64), Date.now())).toBe(true);
  // What is only here, and newer, is not gone either.
  const here = await cacheOf("a").put(bytes("only here"), { name: "x" });
  expect(await a.remove(here.sha256, Date.now() - 60_000)).toBe(false);
  expect(await (await a.get(here.sha256))?.text()).toBe("only here");
});

test("old content is listed once, whatever the pages are; content stored again is not", async () => {
  const a = machine("a");
  for (const text of ["one", "two", "three"]) await a.put(bytes(text), { name: text });
  const cut = Date.now() + 1;
  while (Date.now() < cut) await Bun.sleep(1);
  const { sha256: two } = await a.put(bytes("two"), { name: "two" });
  s3.objects.set("team/files/readme", bytes("of others"));
  s3.objects.set(`team/files/${"9".repeat(64)}/no-id`, bytes("of others"));
  const found = await all(machine("b").old(cut));
  expect(found).toHaveLength(2);
  expect(found).not.toContain(two);
  expect((await all(machine("b").old(Date.now() + 1))).toSorted()).toEqual([...found, two].toSorted());
  expect(await all(machine("b", "elsewhere").old(Date.now() + 1))).toEqual([]);
});

test("a machine drops its copies of yesterday; what is in use and only here is in the bucket first", async () => {
  const a = machine("a");
  const cache = cacheOf("a");
  await a.put(bytes("hello"), { name: "a" });
  const [used, unused] = await Promise.all(
    ["from before", "and deleted"].map((text) => cache.put(bytes(text), { name: text })),
  );
  if (used === undefined || unused === undefined) throw new Error("not stored");
  const all = [hello.sha256, used.sha256, unused.sha256];
  const here = async () =>
    (await Promise.all(all.map((sha256) => cache.get(sha256)))).map((file) => file !== undefined);
  const drop = () => a.dropCopies?.(async () => new Set([hello.sha256, used.sha256]));
  await drop();
  expect(await here()).toEqual([true, true, true]);
  const yesterday = Date.now() / 1000 - 90_000;
  for (const sha256 of all) await utimes(join(folder, "a", sha256.slice(0, 2), sha256), yesterday, yesterday);
  await drop();
  expect([await here(), keys()]).toMatchObject([[false, false, false], { length: 2 }]);
  expect(keys().filter((key) => key.includes(hello.sha256))).toHaveLength(1);
  expect(await (await a.get(hello.sha256))?.text()).toBe("hello");
  expect(await (await machine("b").get(used.sha256))?.text()).toBe("from before");
  expect(await a.get(unused.sha256)).toBeUndefined();
});

test("a copy of what another machine deleted goes soon; one that may be arriving or that a run refers to stays", async () => {
  const [a, b] = [machine("a"), machine("b")];
  const stored = await Promise.all(["deleted", "kept", "used"].map((text) => b.put(bytes(text), { name: text })));
  const arriving = await cacheOf("b").put(bytes("arriving"), { name: "arriving" });
  const [deleted, , used] = stored;
  for (const one of [deleted, used]) await a.remove(one?.sha256 ?? "", Date.now() + 1_000);
  const minutesAgo = Date.now() / 1000 - 600;
  for (const { sha256 } of stored) await utimes(join(folder, "b", sha256.slice(0, 2), sha256), minutesAgo, minutesAgo);
  await b.dropCopies?.(async () => new Set([used?.sha256 ?? ""]));
  const here = await Promise.all([...stored, arriving].map(({ sha256 }) => cacheOf("b").get(sha256)));
  expect(here.map((file) => file !== undefined)).toEqual([false, true, true, true]);
});

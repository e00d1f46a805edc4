import { expect, test } from "bun:test";
import { extract } from "tar-stream";
import { AppError } from "../../core/errors.ts";
import { type ArchivedFile, archiveStream, leftOutName } from "./archive.ts";

const file = (path: string, text: string): ArchivedFile => ({
  ...{ path, size: text.length, modifiedAt: Date.UTC(2026, 3, 1) },
  read: async () => new TextEncoder().encode(text),
});

async function unpacked(files: readonly ArchivedFile[], bounds: Parameters<typeof archiveStream>[1]) {
  const bytes = await new Response(await archiveStream(files, bounds)).arrayBuffer();
  const tar = extract();
  tar.end(Bun.gunzipSync(bytes));
  const found: [string, string][] = [];
  for await (const entry of tar)
    found.push([entry.header.name, await new Response(entry as unknown as ReadableStream).text()]);
  return found;
}

test("an archive has every file, and no name leads out of the folder or replaces another", async () => {
  const long = "x".repeat(3_000_000);
  const files = [
    file("a.txt", "1"),
    file("../../a.txt", "2"),
    file("/etc/b", "3"),
    file("c\\d\n.txt", long),
    file("..", "4"),
  ];
  expect(await unpacked([...files, file(leftOutName, "5")], { maxBytes: 10_000_000 })).toEqual([
    ["a.txt", "1"],
    ["a-2.txt", "2"],
    ["etc/b", "3"],
    ["c/d_.txt", long],
    ["file", "4"],
    ["NOT-INCLUDED-2.txt", "5"],
  ]);
});

test("what is too much, gone or not listed is left out, and the archive says so", async () => {
  const gone = { ...file("gone", "1"), read: () => Promise.reject(new AppError("not_found", "it is gone")) };
  const bounds = { maxBytes: 1024 * 1024, notListed: "Files of workspaces with more than are listed" };
  const [kept, note, ...none] = await unpacked([file("big", "x".repeat(1024 * 1025)), gone, file("b", "2")], bounds);
  expect([kept, note?.[0], none]).toEqual([["b", "2"], leftOutName, []]);
  expect(note?.[1]).toContain("Files of workspaces with more than are listed");
  expect(note?.[1]).toContain("big: the archive would have more than 1 MB");
  expect(note?.[1]).toContain("gone: it is gone");
});

test("an archive is made while it is read: a reader that leaves ends the work", async () => {
  let reads = 0;
  const files = Array.from(
    { length: 50 },
    (_, n): ArchivedFile => ({
      ...{ path: `${n}`, size: 1_000_000 },
      async read() {
        reads += 1;
        // Bytes that do not compress.
        return Buffer.concat(Array.from({ length: 16 }, () => crypto.getRandomValues(Buffer.alloc(65_536))));
      },
    }),
  );
  const reader = (await archiveStream(files, { maxBytes: 1e9 })).getReader();
  await reader.read();
  await reader.cancel();
  const before = reads;
  for (let n = 0; n < 20; n++) await Bun.sleep(5);
  expect(before).toBeLessThan(files.length);
  expect(reads).toBeLessThanOrEqual(before + 1);
});

test("files are counted by what they turn out to have, up to exactly the bytes allowed", async () => {
  const names = async (files: readonly ArchivedFile[]) =>
    (await unpacked(files, { maxBytes: 8 })).map(([name]) => name).filter((name) => name !== leftOutName);
  expect(await names([file("a", "123"), file("b", "12345")])).toEqual(["a", "b"]);
  expect(await names([file("a", "123"), file("b", "123456"), file("c", "12345")])).toEqual(["a", "c"]);
  expect(await names([{ ...file("grown", "12345678"), size: 1 }, file("b", "1")])).toEqual(["grown"]);
  expect(await names([{ ...file("shrunk", "1"), size: 8 }, file("b", "1234567")])).toEqual(["shrunk", "b"]);
});

test("a file in an archive has its time and may not be executed; one that fails by surprise fails the archive", async () => {
  const bytes = await new Response(await archiveStream([file("a", "1")], { maxBytes: 8 })).arrayBuffer();
  const tar = extract();
  tar.end(Bun.gunzipSync(bytes));
  for await (const entry of tar) {
    expect(entry.header).toMatchObject({ name: "a", mode: 0o644, mtime: new Date(Date.UTC(2026, 3, 1)) });
    entry.resume();
  }
  const broken = { ...file("b", "1"), read: () => Promise.reject(new TypeError("a bug")) };
  const reading = new Response(await archiveStream([broken], { maxBytes: 8 })).arrayBuffer();
  await expect(reading).rejects.toThrow("a bug");
});

import { expect, test } from "bun:test";
import { deflateRawSync } from "node:zlib";
import { zipOf } from "../../../testing/documents.ts";
import { fitsInMemory } from "./office/office-file.ts";
import { openReading } from "./open-reading.ts";
import { requireUnpackable, type ZipContent, zipContent } from "./zip-content.ts";

test("the files of an archive are listed as it claims, and the text of one is read by its exact path", async () => {
  const zip = await zipContent(
    zipOf([
      ["a.txt", "1 ü"],
      ["A.txt", ""],
      ["b/b.txt", "22"],
    ]),
  );
  expect(zip.entries).toEqual([
    { path: "a.txt", size: 4, packed: 4 },
    { path: "A.txt", size: 0, packed: 0 },
    { path: "b/b.txt", size: 2, packed: 2 },
  ]);
  expect(zip.unpackedBytes).toBe(6);
  expect(await Promise.all(["a.txt", "A.txt", "b/b.txt", "b.txt"].map((path) => zip.text(path)))).toEqual([
    "1 ü",
    "",
    "22",
    undefined,
  ]);
});

test("a damaged archive, and one of more than twenty thousand files, is refused", async () => {
  await expect(zipContent(Buffer.from("PK\x03\x04 nothing more"))).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("The archive is damaged: "),
  });
  // Reading goes on by `setImmediate`, and while a matcher waits for a promise Bun runs one of
  // those whenever a timer is due: the result is awaited before it is looked at.
  const read = (count: number) =>
    zipContent(zipOf(Array.from({ length: count }, (_, at) => [`${at}`, ""] as const))).catch(
      (error: unknown) => error,
    );
  expect(await read(20_000)).toMatchObject({ entries: { length: 20_000 } });
  expect(await read(20_001)).toMatchObject({ code: "too_large" });
});

test("what claims to unpack to more than is read is refused before it is, and what claims too little is cut off", async () => {
  // Compressed, so that only unpacking shows whether the claim is true.
  const packed = deflateRawSync("hello");
  const claiming = (size: number) => {
    const archive = Buffer.from(zipOf([["a.txt", packed]]));
    for (const [mark, method] of [
      ["PK\x03\x04", 8],
      ["PK\x01\x02", 10],
    ] as const) {
      const at = archive.indexOf(mark);
      archive.writeUInt16LE(8, at + method);
      archive.writeUInt32LE(size, at + method + 14);
    }
    return zipContent(archive);
  };
  expect(await (await claiming(5)).text("a.txt")).toBe("hello");
  await expect((await claiming(64 * 2 ** 20 + 1)).text("a.txt")).rejects.toMatchObject({
    code: "too_large",
    message: '"a.txt" in it unpacks to more than 64 MB.',
  });
  await expect((await claiming(3)).text("a.txt")).rejects.toThrow("too many bytes");
  const zip = (unpackedBytes: number) => ({ unpackedBytes }) as ZipContent;
  expect(() => requireUnpackable(zip(10 * 2 ** 20), 10 * 2 ** 20)).not.toThrow();
  expect(() => requireUnpackable(zip(12 * 2 ** 20), 10 * 2 ** 20)).toThrow(
    "It unpacks to 12 MB, more than the 10 MB that are read.",
  );
  expect(() => fitsInMemory(zip(400 * 2 ** 20))).not.toThrow();
  expect(() => fitsInMemory(zip(400 * 2 ** 20 + 1))).toThrow("more than the 400 MB");
});

test("of an archive the files that were asked for are listed, also those with names of another system", async () => {
  const zip = zipOf(["a.txt", "b\\c.txt", "d.txt"].map((path) => [path, "x"] as const));
  const reading = await openReading(zip, { name: "a.zip", part: "2-", scans: "show" });
  const pieces = await Array.fromAsync(reading.pieces);
  expect(pieces.map(({ text }) => text)).toEqual(["- b/c.txt (1 bytes)", "- d.txt (1 bytes)"]);
});

test("names are listed as what they are, also those that lead outside and those in UTF-8 that nothing marks", async () => {
  const zip = zipOf(["../up.txt", "/etc/x", "C:/y", "ok.txt"].map((path) => [path, ""] as const));
  expect((await zipContent(zip)).entries.map(({ path }) => path)).toEqual(["../up.txt", "/etc/x", "C:/y", "ok.txt"]);
  // As macOS writes it: zipOf marks what is not ASCII, so the name is put in afterwards.
  const name = Buffer.from("Grüße.txt");
  const unmarked = Buffer.from(zipOf([["x".repeat(name.length), "hi"]]));
  for (let at = unmarked.indexOf("xxxx"); at >= 0; at = unmarked.indexOf("xxxx")) name.copy(unmarked, at);
  const { entries, text } = await zipContent(unmarked);
  expect([entries[0]?.path, await text("Grüße.txt")]).toEqual(["Grüße.txt", "hi"]);
});

test("names that Japanese Windows wrote are listed, and asked for, as they were meant", async () => {
  // 日本語/表能.txt in Shift-JIS, in which two characters end with the byte of a backslash.
  const name = Buffer.from("93fa967b8cea2f955c945c2e747874", "hex");
  const archive = Buffer.from(zipOf([["x".repeat(name.length), "hi"]]));
  for (let at = archive.indexOf("xxxx"); at >= 0; at = archive.indexOf("xxxx")) name.copy(archive, at);
  const { entries, text } = await zipContent(archive);
  expect([entries[0]?.path, await text("日本語/表能.txt")]).toEqual(["日本語/表能.txt", "hi"]);
});

import { expect, test } from "bun:test";
import { zipOf } from "../../../testing/documents.ts";
import { type DocumentKind, documentKind } from "./document-kind.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const kind = (bytes: Uint8Array, name = "a.bin") => documentKind(bytes, name);

test.each([
  ["PNG", "89504e470d0a1a0a"],
  ["JPEG", "ffd8ffe000104a464946"],
  ["GIF of 1987", "474946383761"],
  ["GIF of 1989", "474946383961"],
  ["bitmap", "424d 36000000 00000000 36000000"],
  ["TIFF, little end first", "49492a0008000000"],
  ["TIFF, big end first", "4d4d002a00000008"],
  ["HEIC", "00000018 66747970 68656963"],
  ["HEIX", "00000018 66747970 68656978"],
  ["HEIF", "00000018 66747970 6d696631"],
  ["AVIF", "0000001c 66747970 61766966"],
])("a %s is a picture by its first bytes, whatever its name", async (_, start) => {
  expect(await kind(hex(start), "a.txt")).toBe("image");
});

test.each([
  ["a film in the same wrapping", "00000018 66747970 6d703432"],
  ["what only begins like a bitmap", "424d 36000000 01000000"],
])("%s is no picture", async (_, start) => {
  expect(await kind(hex(start))).toBe("unknown");
});

test.each<[string, DocumentKind]>([
  ["word/document.xml", "docx"],
  ["ppt/presentation.xml", "pptx"],
  ["META-INF/container.xml", "epub"],
  ["Word/document.xml", "zip"],
])("an archive with %s is %s", async (path, expected) => {
  expect(
    await kind(
      zipOf([
        ["a.txt", ""],
        [path, ""],
      ]),
      "a.zip",
    ),
  ).toBe(expected);
});

test("an open document is what it says it is, a workbook or a text", async () => {
  const open = (type: string) => kind(zipOf([["mimetype", `application/vnd.oasis.opendocument.${type}`]]), "a.zip");
  expect([await open("spreadsheet"), await open("text"), await open("text-master")]).toEqual(["ods", "odt", "zip"]);
});

test("text of two bytes a letter is text in either order, and text with a zero byte is none", async () => {
  expect([await kind(hex("fffe 6100")), await kind(hex("feff 0061")), await kind(hex("6100 6200"))]).toEqual([
    "text",
    "text",
    "unknown",
  ]);
  const late = (zeroAt: number) => Buffer.concat([Buffer.alloc(zeroAt, "a"), Buffer.from([0])]);
  expect([await kind(late(8_191)), await kind(late(8_192))]).toEqual(["unknown", "text"]);
});

test.each<[string, string, DocumentKind]>([
  ["From: a@b\nDate: today\n\nx", "a.txt", "mail"],
  ["Message-ID: <1@b>\nMIME-Version: 1.0\n\nx", "a.txt", "mail"],
  ["From: me\nTo: you\n\nx", "a.txt", "text"],
  ["x", "A.EML", "mail"],
  ["x", "a.mbox", "mail"],
  ["From here on we go", "a.txt", "text"],
  ["<!DOCTYPE html><p>x", "a.txt", "html"],
  ["<p>x", "a.html", "html"],
  ["<p>x", "a.xml", "text"],
  ["<headline>x", "a.txt", "text"],
])("%j in %s is %s", async (text, name, expected) => {
  expect(await kind(Buffer.from(text), name)).toBe(expected);
});

test("a kind is told also where its sign comes late, its name is loud, or its package ends in a blank", async () => {
  expect(await kind(Buffer.from("\n\nmore\n%PDF-1.7"), "a.txt")).toBe("pdf");
  expect(await kind(hex("d0cf11e0a1b11ae1"), "A.XLS")).toBe("xls");
  const type = "application/vnd.oasis.opendocument.text\n";
  expect(await kind(zipOf([["mimetype", type]]), "a.zip")).toBe("odt");
});

import { expect, test } from "bun:test";
import { decodeText } from "./decode.ts";

const bytes = (...codes: number[]) => Uint8Array.from(codes);
const page = (declaration: string, rest: Uint8Array) =>
  Buffer.concat([Buffer.from(`<html><head>${declaration}</head><body>`), rest]);
const kanji = bytes(0x93, 0xfa, 0x96, 0x7b); // 日本 in Shift_JIS

test.each<[string, Uint8Array, string, string]>([
  ["the byte order mark wins over the header", bytes(0xef, 0xbb, 0xbf, 0xc3, 0xbc), "text/html; charset=latin1", "ü"],
  ["UTF-16 by its mark", bytes(0xff, 0xfe, 0xfc, 0x00), "text/plain", "ü"],
  ["the header", kanji, "text/html; charset=Shift_JIS", "日本"],
  ["a quoted charset in the header", kanji, 'text/html; charset="shift_jis"', "日本"],
  ["GBK by the header", bytes(0xd6, 0xd0, 0xce, 0xc4), "text/html;charset=gb2312", "中文"],
  ["UTF-8 where nothing is said", Buffer.from("für 日本"), "text/html", "für 日本"],
  ["Windows-1252 where it is not UTF-8", bytes(0x80, 0x20, 0xfc), "text/html", "€ ü"],
  ["an unknown name counts as none", Buffer.from("für"), "text/html; charset=klingon", "für"],
])("%s", (_name, body, type, expected) => {
  expect(decodeText(body, type)).toBe(expected);
});

test("a declaration in the page counts when the header has none", () => {
  expect(decodeText(page('<meta charset="shift_jis">', kanji), "text/html")).toEndWith("日本");
  const old = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">';
  expect(decodeText(page(old, bytes(0xcf, 0xf0)), "text/html")).toEndWith("Пр");
  const xml = Buffer.concat([Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>'), bytes(0xfc)]);
  expect(decodeText(xml, "application/xml")).toEndWith("ü");
  expect(decodeText(page('<meta charset="utf-16">', Buffer.from("ü")), "text/html")).toEndWith("ü");
});

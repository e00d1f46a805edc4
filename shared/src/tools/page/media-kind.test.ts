import { expect, test } from "bun:test";
import { mediaKind } from "./media-kind.ts";

const words = "plain words";
test.each([
  ["%PDF-1.7", "text/html", "pdf"],
  ["  %PDF-1.7", "", "pdf"],
  [words, "text/html; charset=utf-8", "html"],
  [words, " Text/HTML", "html"],
  [words, "application/xhtml+xml", "html"],
  [words, "image/png", "image"],
  [words, "image/svg+xml", "text"],
  [words, "text/csv", "text"],
  ["<html>", "text/plain", "text"],
  [words, "application/json", "text"],
  [words, "application/ld+json", "text"],
  [words, "application/vnd.x/json", "text"],
  [words, "application/x-ndjson", "text"],
  [words, "application/rss+xml", "text"],
  [words, "application/javascript", "text"],
  [words, "application/jsonx", "binary"],
  [words, "application/zip", "binary"],
  [words, "video/mp4", "binary"],
  ["<!DOCTYPE html><p>", "", "html"],
  ["\n <!-- a --> <!-- b --> <html lang=de>", "application/octet-stream", "html"],
  ["<body>", "", "html"],
  ["<header>", "", "text"],
  [words, "application/octet-stream", "text"],
  ["a\0b", "", "binary"],
  [`${"a".repeat(8191)}\0`, "", "binary"],
  [`${"a".repeat(8192)}\0`, "", "text"],
  ["", "", "text"],
] as const)("%j with the type %j is %s", (start, type, kind) => {
  expect(mediaKind(new TextEncoder().encode(start), type)).toBe(kind);
});

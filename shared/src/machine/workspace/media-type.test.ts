import { expect, test } from "bun:test";
import { mediaTypeOf } from "./media-type.ts";

test.each([
  ["a.ipynb", "application/x-ipynb+json"],
  ["a.jsonl", "application/jsonl"],
  ["a.parquet", "application/vnd.apache.parquet"],
  ["a.py", "text/x-python"],
  ["a.R", "text/x-r"],
  ["a.sh", "text/x-shellscript"],
  ["a.ts", "text/typescript"],
  ["a.TSX", "text/typescript"],
  ["b/a.csv", "text/csv"],
  ["A.PNG", "image/png"],
  ["a.html", "text/html"],
  ["a.tar.gz", "application/gzip"],
  ["a", "application/octet-stream"],
  ["a.unheard", "application/octet-stream"],
  ["a\0.csv", "text/csv"],
])("the name %j suggests %s", (name, type) => {
  expect(mediaTypeOf(name)).toBe(type);
});

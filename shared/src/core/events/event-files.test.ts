import { expect, test } from "bun:test";
import { filesOf } from "./event-files.ts";

const file = (sha256: string) => ({ type: "file", sha256, name: "a", mediaType: "text/plain", size: 1 });
const hashes = (event: object) => filesOf(event as never).map(({ sha256 }) => sha256);

test("a message's and an artifact's parts, an agent's files and a tool's pictures are files of a run", () => {
  const mixed = [{ type: "text", text: "a" }, file("a"), null, "b", { sha256: 1 }, file("b")];
  expect(hashes({ type: "message-received", parts: mixed })).toEqual(["a", "b"]);
  expect(hashes({ type: "artifact-added", parts: mixed })).toEqual(["a", "b"]);
  expect(hashes({ type: "agent-answered", files: [file("c")], parts: "none" })).toEqual(["c"]);
  expect(hashes({ type: "tool-ended", images: [file("d")] })).toEqual(["d"]);
});

test("a hash that somebody wrote elsewhere opens no file", () => {
  const metadata = { files: [file("a")], parts: [file("a")] };
  const parts = [{ type: "data", data: { parts: [file("b")] } }];
  expect(hashes({ type: "message-received", parts, metadata, data: [file("c")] })).toEqual([]);
  expect(hashes({ type: "tide-turned", note: "x", parts: [file("d")], files: [file("d")] })).toEqual([]);
  expect(hashes({ type: "toString", parts: [file("e")] })).toEqual([]);
});

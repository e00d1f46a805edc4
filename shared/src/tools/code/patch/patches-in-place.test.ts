import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { parsePatch } from "./parse-patch.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeEach(async () => {
  place = await workspaceForTest();
});
afterEach(() => place[Symbol.asyncDispose]());

const at = (path: string) => join(place.workspace.root, path);
const block = (path: string, before: string, after: string) =>
  `${path}\n<<<<<<< SEARCH\n${before}\n=======\n${after}\n>>>>>>> REPLACE\n`;
const tool = applyPatchTool({ queue: createKeyedQueue() });
const patch = (text: string) => tool.call({ patch: text }, contextForTest(place.workspace));

test("a protected name is refused however a patch spells it, and no other file of it is changed", async () => {
  await mkdir(at(".git/hooks"), { recursive: true });
  await symlink(".git/hooks", at("hooks"));
  await writeFile(at("a.txt"), "old\n");
  for (const path of [".git/./hooks/x", "hooks/x", "sub/../.git/hooks/x", "./.bashrc"]) {
    const text = block("a.txt", "old", "new") + block(path, "", "echo planted");
    expect([path, await patch(text)]).toMatchObject([
      path,
      { isError: true, text: expect.stringContaining("protected") },
    ]);
  }
  expect(await Bun.file(at("a.txt")).text()).toBe("old\n");
});

test("a patched text keeps its byte order mark, and parts for one file by several names are of one file", async () => {
  await writeFile(at("a.txt"), "\ufeffone\ntwo\n");
  const { text } = await patch(block("a.txt", "one", "1") + block("./a.txt", "two", "2"));
  expect(text).toBe("The patch was applied to 1 file:\nM a.txt");
  expect(await Bun.file(at("a.txt")).bytes()).toEqual(Buffer.from("\ufeff1\n2\n"));
});

test("patches of the same files in another order wait for each other, and not for ever", async () => {
  for (const name of ["a", "b"]) await writeFile(at(name), "0\n");
  const both = (first: string, second: string, from: number) =>
    patch(block(first, `${from}`, `${from + 1}`) + block(second, `${from}`, `${from + 1}`));
  for (let from = 0; from < 5; from++) {
    const results = await Promise.all([both("a", "b", from), both("b", "a", from)]);
    // Whichever is second finds what the first left.
    expect(results.map(({ isError }) => isError).toSorted()).toEqual([false, true]);
  }
  expect([await Bun.file(at("a")).text(), await Bun.file(at("b")).text()]).toEqual(["5\n", "5\n"]);
});

test("an empty line at the end of a hunk belongs to it if its header counts that line", () => {
  const lines = (header: string) =>
    parsePatch(`--- a/x\n+++ b/x\n${header}\n+new\n\n`)[0]?.hunks[0]?.lines.map(({ op, text }) => op + text);
  expect(lines("@@ -3 +3,2 @@")).toEqual(["+new", " "]);
  expect(lines("@@ -3,0 +3 @@")).toEqual(["+new"]);
});

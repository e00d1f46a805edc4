import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, rm, stat, symlink, truncate, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { recordBaseline } from "../../../machine/workspace/baseline.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { changesPatches } from "./changes-patch.ts";
import { createCheckpointStore } from "./checkpoint-store.ts";
import { checkpointsTool } from "./checkpoints-tool.ts";
import { fileDiff, leftOutText, newDiffRoom } from "./file-diff.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const checkpoints = createCheckpointStore();
const tool = checkpointsTool(checkpoints);
const ask = async (workspace: Workspace, input: Record<string, unknown>) => (await callIn(workspace)(tool, input)).text;
const save = (workspace: Workspace, key: string) => checkpoints.take(workspace, { key, tool: "bash", about: key });
const write = async (workspace: Workspace, path: string, text: string) => {
  await mkdir(dirname(join(workspace.root, path)), { recursive: true });
  await Bun.write(join(workspace.root, path), text);
};
const read = (workspace: Workspace, path: string) => Bun.file(join(workspace.root, path)).text();
const isThere = (workspace: Workspace, path: string) => Bun.file(join(workspace.root, path)).exists();
/** Records files as sent: as a project's if they have a root, else each by itself. */
async function sent(workspace: Workspace, files: Record<string, string>, root?: string) {
  const all = Object.entries(files).map(([path, text]) => ({ path, sha256: sha256Of(text) }));
  const baselines =
    root === undefined ? all.map((file) => ({ root: file.path, files: [file] })) : [{ root, files: all }];
  for (const each of baselines) await recordBaseline(workspace, each, (path) => new Blob([files[path] ?? ""]));
}
const named = (patch: string | undefined) =>
  [...(patch ?? "").matchAll(/^diff --git a\/(\S+)/gm)].map(([, name]) => name);

test.each([
  [8, "A 1, A 2, A 3, A 4, A 5, A 6, A 7, A 8"],
  [9, "A 1, A 2, A 3, A 4, A 5, A 6, A 7, A 8 and 1 more"],
])("of %d changed files eight are named", async (count, names) => {
  const workspace = await place.project({});
  await save(workspace, "call");
  for (let n = 1; n <= count; n++) await write(workspace, `${n}`, "x");
  expect(await ask(workspace, { command: "list" })).toEndWith(`bash call\n   ${names}`);
  expect(await ask(workspace, { command: "restore", id: 1 })).toBe(`Restored state 1: ${names.replaceAll("A", "D")}`);
});

test("only a restoration may be repeated, the others change nothing", () => {
  expect(["list", "diff", "restore"].map((command) => tool.effect({ command }))).toEqual([
    "pure",
    "pure",
    "idempotent",
  ]);
});

test("without changes each command says so, and a state that is needed is asked for", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  expect(await ask(workspace, { command: "list" })).toBe("No call has changed a file yet.");
  await sent(workspace, { "a.txt": "a\n" });
  await save(workspace, "call");
  expect(await ask(workspace, { command: "list" })).toBe("No call has changed a file yet.");
  expect(await ask(workspace, { command: "diff" })).toBe("Nothing differs from what was sent.");
  expect(await ask(workspace, { command: "diff", id: 1 })).toBe("Nothing differs.");
  expect(await ask(workspace, { command: "restore", id: 1 })).toBe("Nothing to restore: the files are as in state 1.");
  expect(await ask(workspace, { command: "restore" })).toContain("Give the id of the state to restore");
});

test("a path restricts a difference and a restoration to that file or folder, not to others that begin like it", async () => {
  const files = { "src/a": "1\n", "src/b": "1\n", "src.txt": "1\n", srcs: "1\n" };
  const workspace = await place.project(files);
  await sent(workspace, files);
  await save(workspace, "call");
  for (const path of Object.keys(files)) await write(workspace, path, "2\n");
  for (const since of [{}, { id: 1 }]) {
    const diff = (path?: string) => ask(workspace, { command: "diff", ...since, ...(path !== undefined && { path }) });
    expect(named(await diff("src"))).toEqual(["src/a", "src/b"]);
    expect(named(await diff("src/a"))).toEqual(["src/a"]);
    expect(named(await diff()).toSorted()).toEqual(["src.txt", "src/a", "src/b", "srcs"]);
  }
  expect(await ask(workspace, { command: "restore", id: 1, path: "src" })).toBe("Restored state 1: M src/a, M src/b");
  expect(await Promise.all(Object.keys(files).map((path) => read(workspace, path)))).toEqual([
    "1\n",
    "1\n",
    "2\n",
    "2\n",
  ]);
});

test("a project of one file is a project, and its patch has its own files alone", async () => {
  const workspace = await place.project({ "p/a": "2\n", "p/n": "new\n", note: "new\n", "p2/x": "new\n" });
  await sent(workspace, { "p/a": "1\n" }, "p");
  const patches = await changesPatches(workspace);
  expect(patches.map(({ folder, patch }) => [folder, named(patch)])).toEqual([["p", ["a", "n"]]]);
  expect(await ask(workspace, { command: "diff" })).toStartWith("[paths from p/]\ndiff --git a/a b/a\n");
  await sent(workspace, { gone: "1\n" });
  expect((await changesPatches(workspace)).map(({ folder, patch }) => [folder, named(patch)])).toEqual([
    ["p", ["a", "n"]],
    ["", ["gone"]],
  ]);
});

test("what differs, but not as text, is named", async () => {
  const workspace = await place.project({ bin: new Uint8Array([0, 1]), run: "x\n" });
  await save(workspace, "call");
  await Bun.write(join(workspace.root, "bin"), new Uint8Array([0, 2]));
  await chmod(join(workspace.root, "run"), 0o755);
  expect(await ask(workspace, { command: "diff", id: 1 })).toBe(
    "bin differs, but not as text.\nrun differs, but not as text.\n",
  );
  await ask(workspace, { command: "restore", id: 1 });
  expect((await stat(join(workspace.root, "run"))).mode & 0o777).toBe(0o644);
});

test("a file of the same size is saved anew if its time differs", async () => {
  const workspace = await place.project({ a: "one\n" });
  await save(workspace, "1");
  await write(workspace, "a", "two\n");
  await utimes(join(workspace.root, "a"), 1, 1);
  await save(workspace, "2");
  expect(await ask(workspace, { command: "diff", id: 1 })).toContain("-one\n+two\n");
});

test("a file of 5 MB is saved, a larger one is not, and is left alone by a restoration", async () => {
  const workspace = await place.project({ fits: "", large: "" });
  await truncate(join(workspace.root, "fits"), 5 * 2 ** 20);
  await truncate(join(workspace.root, "large"), 5 * 2 ** 20 + 1);
  const files = async () => (await checkpoints.now(workspace)).map(({ path }) => path);
  expect(await files()).toEqual(["fits"]);
  await save(workspace, "call");
  await write(workspace, "fits", "other");
  await ask(workspace, { command: "restore", id: 1 });
  expect((await stat(join(workspace.root, "fits"))).size).toBe(5 * 2 ** 20);
  expect(await isThere(workspace, "large")).toBe(true);
});

test("a file is not restored through a link to another folder of the workspace", async () => {
  const workspace = await place.project({ "d/a": "1\n", "other/a": "mine\n" });
  await save(workspace, "call");
  await rm(join(workspace.root, "d"), { recursive: true });
  await symlink("other", join(workspace.root, "d"));
  expect(await ask(workspace, { command: "restore", id: 1 })).toContain("d/a is reached through a link now");
  expect(await read(workspace, "other/a")).toBe("mine\n");
});

test("a restoration sets aside projects that came after the state, and no others", async () => {
  const workspace = await place.project({ "old/a": "a\n" });
  await sent(workspace, { "old/a": "a\n" }, "old");
  await write(workspace, "old/.git/HEAD", "ref\n");
  await sent(workspace, { lone: "x\n" });
  // Times of files advance only every few milliseconds.
  await Bun.sleep(20);
  await save(workspace, "1");
  await Bun.sleep(20);
  await write(workspace, "new/a", "a\n");
  await write(workspace, "new/.git/HEAD", "ref\n");
  await sent(workspace, { "new/a": "a\n" }, "new");
  // A restoration of some path moves no project.
  await ask(workspace, { command: "restore", id: 1, path: "lone" });
  expect(await isThere(workspace, "new/.git/HEAD")).toBe(true);
  await ask(workspace, { command: "restore", id: 1 });
  expect([await isThere(workspace, "new/.git/HEAD"), await isThere(workspace, "old/.git/HEAD")]).toEqual([false, true]);
  await ask(workspace, { command: "restore", id: 2 });
  expect([await read(workspace, "new/.git/HEAD"), await read(workspace, "new/a")]).toEqual(["ref\n", "a\n"]);
});

test("a project whose name only begins like a folder of the state is set aside whole", async () => {
  const workspace = await place.project({ "apple/a": "a\n" });
  await save(workspace, "1");
  await Bun.sleep(20);
  await write(workspace, "app/a", "a\n");
  await write(workspace, "app/.git/HEAD", "ref\n");
  await sent(workspace, { "app/a": "a\n", "app/b": "b\n" }, "app");
  await ask(workspace, { command: "restore", id: 1 });
  expect([await isThere(workspace, "app/.git/HEAD"), await isThere(workspace, "apple/a")]).toEqual([false, true]);
});

test("a project that came before the state stays, even if the state holds none of its files", async () => {
  const workspace = await place.project({});
  await sent(workspace, { "old/a": "a\n" }, "old");
  await write(workspace, "old/.git/HEAD", "ref\n");
  await Bun.sleep(20);
  await save(workspace, "1");
  await write(workspace, "b", "b\n");
  await ask(workspace, { command: "restore", id: 1 });
  expect(await read(workspace, "old/.git/HEAD")).toBe("ref\n");
});

test("a folder that was made anew where a project was set aside is set aside in its place", async () => {
  const workspace = await place.project({});
  await save(workspace, "1");
  await Bun.sleep(20);
  await write(workspace, "new/a", "a\n");
  await write(workspace, "new/.git/HEAD", "first\n");
  await sent(workspace, { "new/a": "a\n" }, "new");
  await ask(workspace, { command: "restore", id: 1 });
  await write(workspace, "new/.git/HEAD", "second\n");
  expect(await ask(workspace, { command: "restore", id: 1 })).toContain("state 1");
  expect(await isThere(workspace, "new/.git/HEAD")).toBe(false);
});

const bytes = (text: string) => new TextEncoder().encode(text);

test.each<[string, [before: Uint8Array | undefined, after: Uint8Array | undefined, executable?: boolean], string]>([
  ["new", [undefined, bytes("a\n")], "new file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n"],
  ["new and executable", [undefined, bytes("a\n"), true], "new file mode 100755\n--- /dev/null"],
  ["new and empty", [undefined, bytes("")], "new file mode 100644\nindex 0000000..e69de29\n"],
  ["gone", [bytes("a\n"), undefined], "deleted file mode 100644\n--- a/x\n+++ /dev/null\n"],
  ["gone and was empty", [bytes(""), undefined], "deleted file mode 100644\nindex e69de29..0000000\n"],
  ["emptied", [bytes("a\n"), bytes("")], "--- a/x\n+++ b/x\n@@ -1,1 +0,0 @@\n-a\n"],
  ["of exactly 1 MB", [undefined, new Uint8Array(2 ** 20).fill(97)], "new file mode 100644\n--- /dev/null"],
])("the difference of a file that is %s is git's", async (_, [before, after, executable], text) => {
  expect(await fileDiff("x", { before, after, executable }, newDiffRoom())).toStartWith(`diff --git a/x b/x\n${text}`);
});

test.each<[string, [before: Uint8Array | undefined, after: Uint8Array | undefined, executable?: boolean]]>([
  ["is the same", [bytes("a"), bytes("a")]],
  ["is above 1 MB", [undefined, new Uint8Array(2 ** 20 + 1).fill(97)]],
  ["was above 1 MB", [new Uint8Array(2 ** 20 + 1).fill(97), bytes("a")]],
  ["is binary", [bytes("a"), new Uint8Array([0])]],
  ["is no UTF-8", [bytes("a"), new Uint8Array([0xe9])]],
])("there is no difference to show of a file that %s", async (_, [before, after]) => {
  expect(await fileDiff("x", { before, after }, newDiffRoom())).toBe("");
});

test("differences share the time of their search and the room of their text, and name what has none", async () => {
  const room = newDiffRoom();
  const lines = (from: number) => bytes(Array.from({ length: 3_000 }, (_, at) => `${from + at * 7}\n`).join(""));
  const [before, after] = [lines(0), lines(1)];
  await fileDiff("x", { before, after }, room);
  expect(room.searchMs).toBeLessThan(1_000);
  room.searchMs = 0;
  // A large search is given up at once; a small one has its result.
  expect(await fileDiff("y", { before, after }, room)).toContain("@@ -1,3000 +1,3000 @@");
  const small = await fileDiff("z", { before: bytes("a\nb\n"), after: bytes("a\nc\n") }, room);
  expect(small).toContain(" a\n-b\n+c\n");
  room.characters = small.length - 1;
  const change = { before: bytes("a\nb\n"), after: bytes("a\nc\n") };
  for (let at = 0; at < 22; at++) expect(await fileDiff(`f${at}`, change, room)).toBe("");
  const told = leftOutText(room).split("\n");
  expect([told.length, told[0], told[20]]).toEqual([
    22,
    "Not shown, as there is too much: f0",
    "Not shown either: 2 more",
  ]);
  expect(leftOutText(newDiffRoom())).toBe("");
});

test("a name that would write lines of its own into a patch is in none", async () => {
  const name = "x\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+z";
  expect(await fileDiff(name, { before: undefined, after: bytes("a\n") }, newDiffRoom())).toBe("");
});

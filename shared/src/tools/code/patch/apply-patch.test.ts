import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, readdir, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedQueue } from "../../../core/async/keyed-queue.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { openEditHistory } from "../../files/edit-history.ts";
import { createStrReplaceEditor } from "../../files/str-replace-editor.ts";
import { applyPatchTool } from "./apply-patch.ts";

let place: CodePlace;
beforeAll(async () => {
  place = await openCodePlace();
});
afterAll(() => place.close());

const queue = createKeyedQueue();
const tool = applyPatchTool({ queue });
const numbers = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join("");
const read = (workspace: Workspace, path: string) => Bun.file(join(workspace.root, path)).text();
const patch = (workspace: Workspace, text: string) => callIn(workspace)(tool, { patch: text });

test("a unified diff changes, creates and removes files in one call", async () => {
  const workspace = await place.project({ "src/a.txt": numbers, "old.txt": "gone\n" });
  const { text, isError } = await patch(
    workspace,
    `diff --git a/src/a.txt b/src/a.txt
index 000..111 100644
--- a/src/a.txt
+++ b/src/a.txt
@@ -2,3 +2,3 @@ heading
 line 2
-line 3
+LINE 3
 line 4
@@ -18,2 +18,3 @@
 line 18
+line 18 and a half
 line 19
--- /dev/null
+++ b/new/b.txt
@@ -0,0 +1,2 @@
+one
+two
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
`,
  );
  expect({ text, isError }).toEqual({
    text: "The patch was applied to 3 files:\nM src/a.txt\nA new/b.txt\nD old.txt",
    isError: false,
  });
  expect(await read(workspace, "src/a.txt")).toBe(
    numbers.replace("line 3\n", "LINE 3\n").replace("line 18\n", "line 18\nline 18 and a half\n"),
  );
  expect(await read(workspace, "new/b.txt")).toBe("one\ntwo\n");
  expect(await Bun.file(join(workspace.root, "old.txt")).exists()).toBe(false);
});

test("git's entries for empty files are applied too, and permission-only changes are refused with nothing changed", async () => {
  const workspace = await place.project({ "a.txt": "a\n", "none.txt": "", "full.txt": "x\n" });
  const made = (name: string) => `diff --git a/${name} b/${name}\nnew file mode 100644\nindex 0000000..e69de29\n`;
  const gone = (name: string) => `diff --git a/${name} b/${name}\ndeleted file mode 100644\nindex e69de29..0000000\n`;
  const change = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";
  const { text } = await patch(workspace, made("sub/__init__.py") + change + gone("none.txt"));
  expect(text).toBe("The patch was applied to 3 files:\nA sub/__init__.py\nM a.txt\nD none.txt");
  expect(await read(workspace, "sub/__init__.py")).toBe("");
  expect(await Bun.file(join(workspace.root, "none.txt")).exists()).toBe(false);
  const back = change.replace("-a\n+b", "-b\n+a");
  expect((await patch(workspace, back + gone("full.txt"))).text).toContain("has more lines than the patch takes away");
  const mode = "diff --git a/full.txt b/full.txt\nold mode 100644\nnew mode 100755\n";
  expect((await patch(workspace, back + mode)).text).toContain("Permissions (of full.txt)");
  expect(await read(workspace, "a.txt")).toBe("b\n");
});

test("search/replace blocks work on several files, and an empty search creates one", async () => {
  const workspace = await place.project({ "a.py": "x = 1\ny = 2\n", "b.py": "z = 3\n" });
  const blocks = [
    "a.py\n<<<<<<< SEARCH\ny = 2\n=======\ny = 20\n>>>>>>> REPLACE",
    "`b.py`\n```python\n<<<<<<< SEARCH\nz = 3\n=======\n>>>>>>> REPLACE\n```",
    "c.py\n<<<<<<< SEARCH\n=======\nnew = True\n>>>>>>> REPLACE",
  ];
  expect((await patch(workspace, blocks.join("\n"))).text).toContain("3 files");
  expect(await read(workspace, "a.py")).toBe("x = 1\ny = 20\n");
  expect(await read(workspace, "b.py")).toBe("");
  expect(await read(workspace, "c.py")).toBe("new = True\n");
});

test("wrong line numbers, wrong counts and different white space are tolerated and reported", async () => {
  const workspace = await place.project({ "a.txt": numbers, "w.txt": "a  \r\nb\r\nc\r\n" });
  const off = "--- a.txt\n+++ a.txt\n@@ -2,9 +2,9 @@\n line 9\n-line 10\n+TEN\n line 11\n";
  expect((await patch(workspace, off)).text).toContain("M a.txt (found 7 lines further down)");
  expect(await read(workspace, "a.txt")).toBe(numbers.replace("line 10\n", "TEN\n"));
  const spaced = "--- w.txt\n+++ w.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n";
  expect((await patch(workspace, spaced)).text).toContain("white space at line ends differs");
  expect(await read(workspace, "w.txt")).toBe("a  \r\nB\r\nc\r\n");
});

test("a hunk that does not fit is reported with the text found there, and no file is changed", async () => {
  const workspace = await place.project({ "a.txt": numbers, "b.txt": "one\ntwo\nthree\n" });
  const { text, isError } = await patch(
    workspace,
    "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-line 1\n+first\n--- b.txt\n+++ b.txt\n@@ -1 +1 @@\n-one\n+1\n@@ -2,2 +2,2 @@\n two\n-drei\n+3\n",
  );
  expect(isError).toBe(true);
  expect(text).toContain('Hunk 2 of 2 for b.txt does not fit: its line "drei"');
  expect(text).toContain("     3\tthree");
  expect(await read(workspace, "a.txt")).toBe(numbers);
  expect(await read(workspace, "b.txt")).toBe("one\ntwo\nthree\n");
});

test("a block that fits in several places is refused with the places", async () => {
  const workspace = await place.project({ "a.txt": "same\nother\nsame\n" });
  const { text } = await patch(workspace, "a.txt\n<<<<<<< SEARCH\nsame\n=======\nnew\n>>>>>>> REPLACE");
  expect(text).toContain("fits in several places, at lines 1, 3");
});

test("a hunk that fits in several places goes to the one nearest its line, or to none if two are equally near or differ only in indentation", async () => {
  const before = "same\na\nsame\nb\nc\nd\nsame\n";
  const workspace = await place.project({ "a.txt": before, "tie.txt": before, "in.txt": "  x\ny\n    x\n" });
  const at = (name: string, line: number, old: string) =>
    `--- ${name}\n+++ ${name}\n@@ -${line} +${line} @@\n-${old}\n+new\n`;
  expect((await patch(workspace, at("a.txt", 6, "same"))).isError).toBe(false);
  expect(await read(workspace, "a.txt")).toBe("same\na\nsame\nb\nc\nd\nnew\n");
  expect((await patch(workspace, at("tie.txt", 2, "same"))).text).toContain("fits in several places, at lines 1, 3, 7");
  expect(await read(workspace, "tie.txt")).toBe(before);
  expect((await patch(workspace, at("in.txt", 1, "x"))).text).toContain("fits in several places, at lines 1, 3");
  expect(await read(workspace, "in.txt")).toBe("  x\ny\n    x\n");
});

test("a last line without a newline stays so, or gets one if the patch says so", async () => {
  const workspace = await place.project({ "a.txt": "one\ntwo", "b.txt": "one\ntwo" });
  await patch(workspace, "--- a.txt\n+++ a.txt\n@@ -2 +2 @@\n-two\n+2\n");
  expect(await read(workspace, "a.txt")).toBe("one\n2");
  await patch(workspace, "--- b.txt\n+++ b.txt\n@@ -2 +2 @@\n-two\n\\ No newline at end of file\n+2\n");
  expect(await read(workspace, "b.txt")).toBe("one\n2\n");
});

test.if(Bun.which("git") !== null)("the result is the same diff that git makes", async () => {
  const before = "a\n\nb\n-- c\n\nd\ne\nf\ng\nh\ni\nj\n";
  const after = "a\n\nB\n\nd\ne\n++ f\ng\nh\ni\nk\n";
  const workspace = await place.project({ "t.txt": before, "before.x": before, "after.x": after });
  const git = Bun.spawnSync(["git", "diff", "--no-index", "-U1", "before.x", "after.x"], { cwd: workspace.root });
  const diff = git.stdout.toString().replaceAll(/(before|after)\.x/g, "t.txt");
  expect((await patch(workspace, diff)).isError).toBe(false);
  expect(await read(workspace, "t.txt")).toBe(after);
});

test("a patch reaches nothing outside the workspace and nothing that is protected", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  const outside = join(workspace.metaRoot, "outside.txt");
  await Bun.write(outside, "secret\n");
  await symlink(outside, join(workspace.root, "link.txt"));
  await symlink(workspace.metaRoot, join(workspace.root, "folder"));
  await mkdir(join(workspace.root, ".git/hooks"), { recursive: true });
  const targets = ["../../outside.txt", "../meta/outside.txt", outside, "link.txt", "folder/outside.txt"];
  for (const path of targets) {
    const { text, isError } = await patch(
      workspace,
      `a.txt\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n${path}\n<<<<<<< SEARCH\nsecret\n=======\nchanged\n>>>>>>> REPLACE`,
    );
    expect({ path, isError, text }).toMatchObject({
      isError: true,
      text: expect.stringContaining("outside the workspace"),
    });
  }
  for (const path of [".git/hooks/pre-commit", ".bashrc", "sub/.vscode/tasks.json", "manyhands.toml"]) {
    const { text } = await patch(workspace, `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+evil\n`);
    expect(text).toContain("is protected");
  }
  expect(await Bun.file(outside).text()).toBe("secret\n");
  expect(await read(workspace, "a.txt")).toBe("a\n");
  expect(await readdir(join(workspace.root, ".git/hooks"))).toEqual([]);
});

test("the editor undoes a patch file by file", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  const editor = createStrReplaceEditor(queue);
  await patch(workspace, "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ n.txt\n@@ -0,0 +1 @@\n+n\n");
  for (const path of ["a.txt", "n.txt"]) await callIn(workspace)(editor, { command: "undo_edit", path });
  expect(await read(workspace, "a.txt")).toBe("a\n");
  expect(await Bun.file(join(workspace.root, "n.txt")).exists()).toBe(false);
});

test("a call repeated with its key is answered as before and changes nothing twice", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  const context = contextForTest(workspace, { key: "run/7" });
  const twice = { patch: "--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n a\n+a\n" };
  const first = await tool.call(twice, context);
  expect(await tool.call(twice, context)).toEqual(first);
  expect(await read(workspace, "a.txt")).toBe("a\na\n");
});

test("if writing a file fails midway, earlier files are restored and the call does not count as done", async () => {
  const workspace = await place.project({ "a.txt": "a\n", "gone.txt": "gone\n", "wall.txt": "wall\n" });
  const context = contextForTest(workspace, { key: "run/8" });
  const blocked = {
    patch:
      "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n--- gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" +
      "--- /dev/null\n+++ n.txt\n@@ -0,0 +1 @@\n+n\n--- /dev/null\n+++ wall.txt/x.txt\n@@ -0,0 +1 @@\n+x\n",
  };
  for (let attempt = 1; attempt <= 2; attempt++) {
    const { text, isError } = await tool.call(blocked, context);
    expect({ text, isError }).toEqual({ text: "wall.txt is not a folder of the workspace.", isError: true });
    const there = await Promise.all(["a.txt", "gone.txt", "wall.txt"].map((path) => read(workspace, path)));
    expect(there).toEqual(["a\n", "gone\n", "wall\n"]);
    expect(await Bun.file(join(workspace.root, "n.txt")).exists()).toBe(false);
  }
  const editor = createStrReplaceEditor(queue);
  expect((await callIn(workspace)(editor, { command: "undo_edit", path: "a.txt" })).text).toContain("No edit history");
  await rm(join(workspace.root, "wall.txt"));
  expect((await tool.call(blocked, context)).text).toContain("applied to 4 files");
  expect(await read(workspace, "a.txt")).toBe("b\n");
});

const swap = (name: string, old: string, next: string) =>
  `${name}\n<<<<<<< SEARCH\n${old}\n=======\n${next}\n>>>>>>> REPLACE\n`;

test("parts of a patch for one file, however it is named, follow each other, and the file keeps its permissions", async () => {
  const workspace = await place.project({ "s/a.sh": "one\ntwo\n" });
  await chmod(join(workspace.root, "s/a.sh"), 0o751);
  const parts = swap("s/a.sh", "one", "1") + swap("s/../s/a.sh", "two", "2") + swap("s/a.sh", "1", "first");
  expect((await patch(workspace, parts)).text).toBe("The patch was applied to 1 file:\nM s/a.sh");
  expect(await read(workspace, "s/a.sh")).toBe("first\n2\n");
  expect((await stat(join(workspace.root, "s/a.sh"))).mode & 0o777).toBe(0o751);
});

test("a file taken back after a failure has its permissions again", async () => {
  const workspace = await place.project({ "a.sh": "a\n", "gone.sh": "g\n", "wall.txt": "wall\n" });
  for (const name of ["a.sh", "gone.sh"]) await chmod(join(workspace.root, name), 0o751);
  const gone = "--- gone.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n";
  const wall = "--- /dev/null\n+++ wall.txt/x\n@@ -0,0 +1 @@\n+x\n";
  const { text } = await patch(workspace, swap("a.sh", "a", "b") + gone + wall);
  expect(text).toBe("wall.txt is not a folder of the workspace.");
  for (const name of ["a.sh", "gone.sh"]) expect((await stat(join(workspace.root, name))).mode & 0o777).toBe(0o751);
});

test("what an interrupted attempt had changed is taken back too if the rest cannot be done", async () => {
  const workspace = await place.project({ "a.txt": "a\n", "wall.txt": "wall\n" });
  const history = await openEditHistory(workspace, await workspacePathOf(workspace, "a.txt"));
  const bytes = (text: string) => new TextEncoder().encode(text);
  const key = "run/9";
  await history.commit({ before: bytes("a\n"), after: bytes("b\n"), key, text: "The patch was applied." });
  expect(await read(workspace, "a.txt")).toBe("b\n");
  const wall = "--- /dev/null\n+++ wall.txt/x\n@@ -0,0 +1 @@\n+x\n";
  const { isError } = await tool.call({ patch: swap("a.txt", "a", "b") + wall }, contextForTest(workspace, { key }));
  expect([isError, await read(workspace, "a.txt")]).toEqual([true, "a\n"]);
});

test("a patch that was given up while it waited changes nothing", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  const held = Promise.withResolvers<void>();
  void queue(join(workspace.root, "a.txt"), () => held.promise);
  const stop = new AbortController();
  const context = contextForTest(workspace, { signal: stop.signal });
  const patching = tool.call({ patch: swap("a.txt", "a", "b") }, context);
  const reason = new Error("canceled");
  stop.abort(reason);
  held.resolve();
  expect(await patching.catch((error: unknown) => error)).toBe(reason);
  expect(await read(workspace, "a.txt")).toBe("a\n");
});

test("a file that is there is not made again, none that is missing is changed, and a folder is neither", async () => {
  const workspace = await place.project({ "a.txt": "a\n", "sub/b.txt": "b\n" });
  const made = (name: string) => `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+n\n`;
  expect((await patch(workspace, made("a.txt"))).text).toContain("makes a.txt, but that file is there already");
  expect((await patch(workspace, made("n.txt") + made("n.txt"))).text).toContain("makes n.txt, but");
  expect((await patch(workspace, swap("no.txt", "a", "b"))).text).toContain(
    "file no.txt that is to be patched does not",
  );
  expect((await patch(workspace, made("sub"))).text).toContain("The path sub is not a regular file");
  expect(await read(workspace, "a.txt")).toBe("a\n");
  expect(await Bun.file(join(workspace.root, "n.txt")).exists()).toBe(false);
});

test("a patch touches fifty files at most", async () => {
  const workspace = await place.project({});
  const all = (count: number) => Array.from({ length: count }, (_, n) => swap(`${n}.txt`, "", "x")).join("");
  expect((await patch(workspace, all(51))).text).toBe("A patch may touch 50 files at most.");
  expect(await readdir(workspace.root)).toEqual([]);
  expect((await patch(workspace, all(50))).text).toContain("applied to 50 files");
});

test("text that is not a patch is reported as such, and binary or renaming patches are refused", async () => {
  const workspace = await place.project({});
  expect((await patch(workspace, "please change a.txt")).text).toContain("There is no patch in this");
  expect((await patch(workspace, "diff --git a/x b/x\nrename from x\nrename to y\n")).text).toContain("not renamed");
  expect((await patch(workspace, "--- a.txt\n+++ a.txt\n@@ nonsense\n")).text).toContain("not a hunk header");
});

test("a patch waits for whatever holds one of its files, the last one too", async () => {
  const workspace = await place.project({ "a.txt": "a\n", "b.txt": "b\n" });
  for (const name of ["a.txt", "b.txt"]) {
    const held = Promise.withResolvers<void>();
    const holding = queue(join(workspace.root, name), () => held.promise);
    const old = name.slice(0, 1);
    const patching = patch(workspace, swap("a.txt", "a", "a") + swap("b.txt", "b", "b") + swap(name, old, "new"));
    for (let turn = 0; turn < 20; turn++) await Bun.sleep(1);
    expect(await read(workspace, name)).toBe(`${old}\n`);
    held.resolve();
    await holding;
    expect((await patching).isError).toBe(false);
    expect(await read(workspace, name)).toBe("new\n");
    await patch(workspace, swap(name, "new", old));
  }
});

test("what a patch would change is known before it is applied; a text that is not a patch changes nothing", () => {
  const edits = (text: string) => (typeof tool.edits === "function" ? tool.edits({ patch: text }) : undefined);
  expect(edits(swap("a.txt", "a", "b") + swap("sub/b.txt", "", "n"))).toEqual(["a.txt", "sub/b.txt"]);
  expect(edits("no patch")).toEqual([]);
});

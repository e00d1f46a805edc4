import { expect, test } from "bun:test";
import { chmod, link, mkdir, open, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolResult } from "../../core/tools/tool.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createStrReplaceEditor } from "./str-replace-editor.ts";

async function setUp() {
  const place = await workspaceForTest();
  const { root } = place.workspace;
  const editor = createStrReplaceEditor();
  const call = (input: object, key?: string): Promise<ToolResult> =>
    editor.call(input, contextForTest(place.workspace, key === undefined ? {} : { key }));
  return {
    ...place,
    root,
    call,
    text: async (input: object, key?: string) => (await call(input, key)).text,
    read: (path: string) => Bun.file(join(root, path)).text(),
    write: (path: string, content: string | Uint8Array) => writeFile(join(root, path), content),
    exists: (path: string) => Bun.file(join(root, path)).exists(),
  };
}

const replace = (path: string, old_str: string, new_str: string) => ({
  command: "str_replace",
  path,
  old_str,
  new_str,
});

test("a file is created with its folders, viewed, edited, and undone step by step until it is gone", async () => {
  await using place = await setUp();
  const { text, read, call } = place;
  const path = "src/new/a.py";
  expect(await call({ command: "create", path, file_text: "def f():\n\treturn 1\n" })).toMatchObject({
    text: `File created successfully at: ${path}`,
    isError: false,
  });
  expect(await text({ command: "view", path })).toBe(
    `Here's the result of running \`cat -n\` on ${path}:\n     1\tdef f():\n     2\t\treturn 1\n     3\t\n`,
  );
  expect(await text(replace(path, "return 1", "return 2"))).toBe(
    `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of ${path}:\n` +
      "     1\tdef f():\n     2\t\treturn 2\n     3\t\n" +
      "Review the changes and make sure they are as expected. Edit the file again if necessary.",
  );
  expect(await text({ command: "insert", path, insert_line: 0, new_str: "# f" })).toBe(
    `The file ${path} has been edited. Here's the result of running \`cat -n\` on a snippet of the edited file:\n` +
      "     1\t# f\n     2\tdef f():\n     3\t\treturn 2\n     4\t\n" +
      "Review the changes and make sure they are as expected (correct indentation, no duplicate lines, etc). Edit the file again if necessary.",
  );
  expect(await read(path)).toBe("# f\ndef f():\n\treturn 2\n");
  expect(await text({ command: "undo_edit", path })).toBe(
    `Last edit to ${path} undone successfully. Here's the result of running \`cat -n\` on ${path}:\n` +
      "     1\tdef f():\n     2\t\treturn 2\n     3\t\n",
  );
  await text({ command: "undo_edit", path });
  expect(await read(path)).toBe("def f():\n\treturn 1\n");
  expect(await call({ command: "undo_edit", path })).toEqual({
    text: `Last edit to ${path} undone successfully. The file did not exist before it, so it was deleted.`,
    isError: false,
  });
  expect(await place.exists(path)).toBe(false);
});

test("a file is replaced on request, keeps its permissions but no setuid bit, and an undo restores it", async () => {
  await using place = await setUp();
  await place.write("run.sh", "old\n");
  await chmod(join(place.root, "run.sh"), 0o4755);
  const replaceAll = { command: "create", path: "run.sh", file_text: "new\n", overwrite: true };
  expect(await place.text(replaceAll)).toBe("The file run.sh has been replaced.");
  expect(await place.read("run.sh")).toBe("new\n");
  expect((await stat(join(place.root, "run.sh"))).mode & 0o7777).toBe(0o755);
  await place.text({ command: "undo_edit", path: "run.sh" });
  expect(await place.read("run.sh")).toBe("old\n");
  expect((await stat(join(place.root, "run.sh"))).mode & 0o7777).toBe(0o755);
  expect(await place.text({ ...replaceAll, path: "not/yet" })).toBe("File created successfully at: not/yet");
  await symlink("/etc/hostname", join(place.root, "out"));
  for (const path of [".", "not", "out", ".bashrc"])
    expect((await place.call({ ...replaceAll, path })).isError).toBe(true);
});

test("an absolute path inside the workspace works as a relative one does", async () => {
  await using place = await setUp();
  const path = join(place.root, "a.txt");
  expect(await place.text({ command: "create", path, file_text: "" })).toBe(`File created successfully at: ${path}`);
  expect(await place.read("a.txt")).toBe("");
});

test("errors use OpenManus's words", async () => {
  await using place = await setUp();
  await place.write("a.txt", "x\nx\n");
  await mkdir(join(place.root, "d"));
  const cases: [object, string][] = [
    [{ command: "view", path: "no" }, "The path no does not exist. Please provide a valid path."],
    [{ command: "view", path: "a.txt/b" }, "The path a.txt/b does not exist. Please provide a valid path."],
    [
      { command: "create", path: "a.txt", file_text: "" },
      "File already exists at: a.txt. Cannot overwrite files using command `create` unless overwrite is true.",
    ],
    [{ command: "create", path: "new" }, "Parameter `file_text` is required for command: create"],
    [{ command: "str_replace", path: "a.txt" }, "Parameter `old_str` is required for command: str_replace"],
    [{ command: "insert", path: "a.txt", new_str: "" }, "Parameter `insert_line` is required for command: insert"],
    [{ command: "insert", path: "a.txt", insert_line: 0 }, "Parameter `new_str` is required for command: insert"],
    [{ command: "undo_edit", path: "a.txt" }, "No edit history found for a.txt."],
    [replace("d", "a", "b"), "The path d is a directory and only the `view` command can be used on directories"],
    [
      { command: "view", path: "d", view_range: [1, 2] },
      "The `view_range` parameter is not allowed when `path` points to a directory.",
    ],
    [
      replace("a.txt", "x", "y"),
      "No replacement was performed. Multiple occurrences of old_str `x` in lines [1, 2]. Please ensure it is unique",
    ],
  ];
  for (const [input, text] of cases) expect(await place.call(input)).toEqual({ text, isError: true });
  expect(await place.read("a.txt")).toBe("x\nx\n");
});

test("nothing outside the workspace is read or written, by dots, symlinks or hard links", async () => {
  await using place = await setUp();
  const outside = join(place.home, "outside.txt");
  await writeFile(outside, "secret");
  await symlink(outside, join(place.root, "soft"));
  await symlink(join(place.home, "not-yet"), join(place.root, "dangling"));
  await symlink(place.home, join(place.root, "up"));
  await link(outside, join(place.root, "hard"));
  for (const path of [outside, "../../../outside.txt", "soft", "dangling", "up/outside.txt", "up/new", "a\0b", "a\nb"])
    for (const input of [{ command: "view" }, { command: "create", file_text: "x" }, { command: "undo_edit" }]) {
      const result = await place.call({ ...input, path });
      expect([result.isError, result.text.includes("secret")]).toEqual([true, false]);
    }
  expect((await place.call(replace("hard", "secret", "public"))).isError).toBe(true);
  expect(await Bun.file(outside).text()).toBe("secret");
  expect((await readdir(place.home)).sort()).toEqual(["outside.txt", "workspaces"]);
});

test("a FIFO is refused without waiting", async () => {
  await using place = await setUp();
  Bun.spawnSync(["mkfifo", join(place.root, "pipe")]);
  expect(await place.text({ command: "view", path: "pipe" })).toBe("The path pipe is not a regular file.");
  expect(await place.text(replace("pipe", "a", "b"))).toBe("The path pipe is not a regular file.");
});

test("files that would take effect outside the sandbox are not written, not even through a symlinked folder", async () => {
  await using place = await setUp();
  await mkdir(join(place.root, ".git/hooks"), { recursive: true });
  await symlink(".git/hooks", join(place.root, "innocent"));
  for (const path of [
    ".git/hooks/pre-commit",
    "innocent/post-checkout",
    ".bashrc",
    "sub/.mcp.json",
    "manyhands.toml",
    ".git/config",
  ]) {
    const result = await place.call({ command: "create", path, file_text: "evil" });
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining("is protected") });
  }
  expect(await readdir(join(place.root, ".git/hooks"))).toEqual([]);
});

test("concurrent edits of one file all take effect, even under another of its names", async () => {
  await using place = await setUp();
  await place.write("n.txt", Array.from({ length: 20 }, (_, n) => `line-${n}.\n`).join(""));
  await symlink("n.txt", join(place.root, "alias"));
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) => place.call(replace(n % 2 ? "n.txt" : "alias", `line-${n}.`, `edited-${n}.`))),
  );
  expect(results.filter((result) => result.isError)).toEqual([]);
  expect(await place.read("n.txt")).toBe(Array.from({ length: 20 }, (_, n) => `edited-${n}.\n`).join(""));
});

test("of two concurrent creations one wins, the other fails", async () => {
  await using place = await setUp();
  const results = await Promise.all(
    ["one", "two"].map((file_text) => place.call({ command: "create", path: "a", file_text })),
  );
  expect(results.map((result) => result.isError).sort()).toEqual([false, true]);
});

test("a call repeated with its key gets the same answer and is not made twice", async () => {
  await using place = await setUp();
  await place.write("a.txt", "1\n");
  const insert = { command: "insert", path: "a.txt", insert_line: 1, new_str: "2" };
  const first = await place.call(insert, "run/7");
  expect(await place.call(insert, "run/7")).toEqual(first);
  expect(await place.read("a.txt")).toBe("1\n2\n");
  const create = { command: "create", path: "b.txt", file_text: "b" };
  expect(await place.call(create, "run/8")).toEqual(await place.call(create, "run/8"));
  const undo = { command: "undo_edit", path: "a.txt" };
  expect(await place.call(undo, "run/9")).toEqual(await place.call(undo, "run/9"));
  expect(await place.read("a.txt")).toBe("1\n");
});

test("the edit history outlives the process", async () => {
  await using place = await setUp();
  await place.write("a.txt", "one");
  await place.call(replace("a.txt", "one", "two"));
  await place.call(replace("a.txt", "two", "three"));
  const again = await openWorkspace({ home: place.home, principal: "alice", contextId: "c1" });
  const editor = createStrReplaceEditor();
  for (const expected of ["two", "one"]) {
    expect((await editor.call({ command: "undo_edit", path: "a.txt" }, contextForTest(again))).isError).toBe(false);
    expect(await place.read("a.txt")).toBe(expected);
  }
});

test("an undo never overwrites what another program has written since", async () => {
  await using place = await setUp();
  await place.write("a.txt", "one");
  await place.call(replace("a.txt", "one", "two"));
  await place.write("a.txt", "by a command");
  expect(await place.text({ command: "undo_edit", path: "a.txt" })).toBe(
    "The last edit to a.txt cannot be undone: the file was changed by something else since.",
  );
  expect(await place.read("a.txt")).toBe("by a command");
});

test("binary content is neither shown nor edited, nor is UTF-16", async () => {
  await using place = await setUp();
  await place.write("b.bin", new Uint8Array([1, 2, 0, 3]));
  await place.write("late.bin", Buffer.concat([Buffer.alloc(20_000, "a"), Buffer.from([0])]));
  await place.write("u.txt", Buffer.from("\ufefftext", "utf16le"));
  for (const path of ["b.bin", "late.bin", "u.txt"])
    for (const input of [{ command: "view", path }, replace(path, "a", "b")])
      expect(await place.text(input)).toBe(
        `The file ${path} is binary, so it can neither be shown nor edited as text. If it is a document, read_document reads it; unpack opens an archive.`,
      );
});

test("invalid UTF-8 is shown with a warning and never edited", async () => {
  await using place = await setUp();
  const latin = Buffer.from("caf\xe9 au lait", "latin1");
  await place.write("l.txt", latin);
  expect(await place.text({ command: "view", path: "l.txt" })).toContain(
    "     1\tcaf\ufffd au lait\nThis file is not valid UTF-8",
  );
  expect(await place.text(replace("l.txt", "lait", "sucre"))).toStartWith("The file l.txt is not valid UTF-8");
  expect(Buffer.from(await Bun.file(join(place.root, "l.txt")).bytes())).toEqual(latin);
});

test("line endings, byte order mark, tabs and permissions are kept by edits and undone exactly", async () => {
  await using place = await setUp();
  const content = "\ufeff#!/bin/sh\r\n\techo 1\r\nmixed\n";
  await place.write("run.sh", content);
  await chmod(join(place.root, "run.sh"), 0o750);
  expect(await place.text(replace("run.sh", "#!/bin/sh\n\techo 1", "#!/bin/bash\n\techo 2"))).toContain(
    "     2\t\techo 2\n",
  );
  expect(await Bun.file(join(place.root, "run.sh")).bytes()).toEqual(
    new TextEncoder().encode("\ufeff#!/bin/bash\r\n\techo 2\r\nmixed\n"),
  );
  expect((await stat(join(place.root, "run.sh"))).mode & 0o777).toBe(0o750);
  await place.call({ command: "undo_edit", path: "run.sh" });
  expect(await Bun.file(join(place.root, "run.sh")).bytes()).toEqual(new TextEncoder().encode(content));
  expect((await stat(join(place.root, "run.sh"))).mode & 0o777).toBe(0o750);
});

test("a file of 1 GB is viewed in parts without being loaded, and not edited", async () => {
  await using place = await setUp();
  const line = `${"x".repeat(99)}\n`;
  await place.write("big.txt", line.repeat(30_000));
  await place.write("sparse.txt", line);
  await using file = await open(join(place.root, "sparse.txt"), "r+");
  await file.truncate(1024 ** 3);
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  expect(await place.text({ command: "view", path: "sparse.txt" })).toContain("is binary");
  expect(await place.text(replace("sparse.txt", "x", "y"))).toStartWith("The file sparse.txt has 1073741824 bytes");
  expect(await place.text({ command: "view", path: "sparse.txt", view_range: [1, 1] })).toContain("is binary");
  expect(await place.text({ command: "view", path: "big.txt", view_range: [29_999, 29_999] })).toBe(
    `Here's the result of running \`cat -n\` on big.txt:\n 29999\t${line}`,
  );
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 ** 2);
});

test("a long file is cut after a whole line, and the note says how to read on", async () => {
  await using place = await setUp();
  await place.write("a.txt", Array.from({ length: 2_000 }, (_, line) => `line ${line + 1}`).join("\n"));
  let from = 1;
  for (let views = 0; from <= 2_000; views++) {
    const view_range = from === 1 ? {} : { view_range: [from, -1] };
    const text = await place.text({ command: "view", path: "a.txt", ...view_range });
    expect(text.length).toBeLessThan(12_000);
    const next = Number(/Read on with view_range \[(\d+), -1\]/.exec(text)?.[1] ?? 2_001);
    expect(text).toContain(`\tline ${next - 1}`);
    expect(text).not.toContain(`\tline ${next}\n`);
    expect([next > from, views < 10]).toEqual([true, true]);
    from = next;
  }
});

test("a line too long to be shown is cut, whole characters only", async () => {
  await using place = await setUp();
  await place.write("a.txt", `${"\u{1f40b}".repeat(40_000)}\nend\n`);
  const text = await place.text({ command: "view", path: "a.txt" });
  expect(text).toContain("<response clipped><NOTE>To save on context only part of this file has been shown to you.");
  expect(text).toContain("Line 1 is too long to be shown whole. Read on with view_range [2, -1].");
  expect(text.split("\u{1f40b}").length - 1).toBe(5496);
  expect(text).not.toContain("\ufffd");
  expect(text).not.toContain("not valid UTF-8");
  const tail = await place.text({ command: "view", path: "a.txt", view_range: [2, -1] });
  expect(tail).toBe("Here's the result of running `cat -n` on a.txt:\n     2\tend\n     3\t\n");
});

test("view ranges show their lines, and wrong ones are refused in the known words", async () => {
  await using place = await setUp();
  await place.write("a.txt", "1\n2\n3");
  const view = (...view_range: number[]) => place.text({ command: "view", path: "a.txt", view_range });
  const head = "Here's the result of running `cat -n` on a.txt:\n";
  expect(await view(1, 2)).toBe(`${head}     1\t1\n     2\t2\n`);
  expect(await view(2, -1)).toBe(`${head}     2\t2\n     3\t3\n`);
  expect(await view(3, 3)).toBe(`${head}     3\t3\n`);
  expect(await view(1)).toBe("Invalid `view_range`. It should be a list of two integers.");
  for (const first of [0, 4, -1])
    expect(await view(first, 4)).toBe(
      `Invalid \`view_range\`: [${first}, 4]. Its first element \`${first}\` should be within the range of lines of the file: [1, 3]`,
    );
  expect(await view(2, 4)).toBe(
    "Invalid `view_range`: [2, 4]. Its second element `4` should be smaller than the number of lines in the file: `3`",
  );
  expect(await view(2, 1)).toBe(
    "Invalid `view_range`: [2, 1]. Its second element `1` should be larger or equal than its first `2`",
  );
});

test("a folder is shown two levels deep in natural order, without hidden names, not through symlinks", async () => {
  await using place = await setUp();
  await mkdir(join(place.root, "b c/deep/deeper"), { recursive: true });
  await mkdir(join(place.root, ".git"));
  for (const path of ["f10.txt", "f2.txt", "b c/$(id).txt", "b c/.hidden", "b c/deep/no.txt", "odd\nname"])
    await place.write(path, "");
  await symlink("/etc", join(place.root, "etc"));
  const names = ["b c", "b c/$(id).txt", "b c/deep", "etc", "f2.txt", "f10.txt", "odd?name"];
  const listing = (path: string) =>
    `Here's the files and directories up to 2 levels deep in ${path}, excluding hidden items:\n` +
    `${[path, ...names.map((name) => `${path}/${name}`)].join("\n")}\n`;
  expect(await place.text({ command: "view", path: "." })).toBe(listing("."));
  expect(await place.text({ command: "view", path: `${place.root}/` })).toBe(listing(place.root));
});

test("a folder with very many names is cut short and says so", async () => {
  await using place = await setUp();
  for (let n = 0; n < 510; n++) await place.write(`f${n}`, "");
  const text = await place.text({ command: "view", path: "" });
  expect(text).toContain("./f499\n(10 more are not shown)\n");
  expect(text).not.toContain("./f500");
});

test("an image is shown as an image, whatever its name, up to 5 MB", async () => {
  await using place = await setUp();
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await place.write("chart", png);
  expect(await place.call({ command: "view", path: "chart" })).toEqual({
    text: `Here's the image chart (image/png, ${png.length} bytes).`,
    isError: false,
    images: [{ type: "image", mediaType: "image/png", data: png.toString("base64") }],
  });
  await place.write("big.png", Buffer.concat([png, Buffer.alloc(5 * 1024 ** 2)]));
  expect(await place.call({ command: "view", path: "big.png" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("The image big.png has"),
  });
});

test("edited and created files belong to the workspace's user", async () => {
  await using place = await setUp();
  const expected = process.getuid?.() === 0 ? 65534 : process.getuid?.();
  const user = { uid: 65534, gid: 65534 };
  const workspace = await openWorkspace({ home: place.home, principal: "p", contextId: "c", user });
  const editor = createStrReplaceEditor();
  await editor.call({ command: "create", path: "d/e/f.txt", file_text: "a" }, contextForTest(workspace));
  await editor.call(replace("d/e/f.txt", "a", "b"), contextForTest(workspace));
  for (const path of ["d", "d/e", "d/e/f.txt"])
    expect((await stat(join(workspace.root, path))).uid).toBe(expected as number);
});

test("a file that vanishes meanwhile gives a clear error", async () => {
  await using place = await setUp();
  await place.call({ command: "create", path: "a", file_text: "1" });
  await rm(join(place.root, "a"));
  expect(await place.text({ command: "undo_edit", path: "a" })).toBe(
    "The path a does not exist. Please provide a valid path.",
  );
  expect((await place.call({ command: "create", path: "a", file_text: "2" })).isError).toBe(false);
  await place.call({ command: "undo_edit", path: "a" });
  expect(await place.exists("a")).toBe(false);
});

test("views are pure, edits may be repeated", () => {
  const editor = createStrReplaceEditor();
  expect(editor.effect({ command: "view", path: "a" })).toBe("pure");
  expect(editor.effect({ command: "create", path: "a", file_text: "" })).toBe("idempotent");
});

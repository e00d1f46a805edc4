import { expect, test } from "bun:test";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../core/text/sha256.ts";
import { workspacePathOf } from "../../machine/workspace/workspace-file.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { openEditHistory } from "./edit-history.ts";

const encode = (text: string) => new TextEncoder().encode(text);

async function setUp() {
  const place = await workspaceForTest();
  return {
    ...place,
    file: join(place.workspace.root, "a.txt"),
    history: async () => openEditHistory(place.workspace, await workspacePathOf(place.workspace, "a.txt")),
    snapshots: async () => {
      const [folder = ""] = await readdir(join(place.workspace.metaRoot, "edits"));
      return (await readdir(join(place.workspace.metaRoot, "edits", folder))).filter((name) => name !== "history.json");
    },
  };
}

test("an edit of a file that has changed since it was read is refused and leaves no trace", async () => {
  await using place = await setUp();
  await writeFile(place.file, "by a command");
  for (const before of [encode("as it was read"), null]) {
    const history = await place.history();
    const edit = { key: "k", text: "done", before, after: encode("edited") };
    await expect(history.commit(edit)).rejects.toMatchObject({ code: "conflict" });
    const again = await place.history();
    expect([again.answerTo("k"), await again.lastChange()]).toEqual([undefined, undefined]);
  }
  expect(await Bun.file(place.file).text()).toBe("by a command");
});

test("an edit of a path that has become a folder is refused", async () => {
  await using place = await setUp();
  await mkdir(place.file);
  const edit = { key: "k", text: "done", before: null, after: encode("x") };
  await expect((await place.history()).commit(edit)).rejects.toMatchObject({ code: "conflict" });
});

test("what was staged is gone after an edit, an undo and a refusal, and the last edit is known also if the file changes then", async () => {
  await using place = await setUp();
  const edit = { text: "done", before: null, after: encode("x") };
  const history = await place.history();
  await history.commit({ ...edit, key: "made" });
  await expect(history.commit({ ...edit, key: "refused" })).rejects.toMatchObject({ code: "conflict" });
  await history.commit({ key: "undone", text: "done", before: encode("x"), after: null, undo: true });
  expect(await place.snapshots()).toEqual([]);
  await writeFile(place.file, "by a command");
  expect((await place.history()).answerTo("undone")).toBe("done");
});

test("a history is limited: the oldest edits are dropped, with their snapshots", async () => {
  await using place = await setUp();
  await writeFile(place.file, "0");
  const history = await place.history();
  for (let n = 1; n <= 105; n++)
    await history.commit({ key: `k${n}`, text: "done", before: encode(String(n - 1)), after: encode(String(n)) });
  expect(await place.snapshots()).toHaveLength(100);
  expect([history.answerTo("k73"), history.answerTo("k74")]).toEqual([undefined, "done"]);
  expect(history.answerTo("k105")).toBe("done");
  expect(await history.lastChange()).toEqual({ before: Buffer.from("104"), left: sha256Of("105") });
});

test("large snapshots are dropped before they accumulate", async () => {
  await using place = await setUp();
  const content = (n: number) => Buffer.alloc(9 * 1024 ** 2, String(n));
  await writeFile(place.file, content(0));
  const history = await place.history();
  for (let n = 1; n <= 9; n++)
    await history.commit({ key: `k${n}`, text: "done", before: content(n - 1), after: content(n) });
  expect(await place.snapshots()).toHaveLength(7);
});

test("an edit that was not made before its process was killed stays unmade, however often its history is opened", async () => {
  await using place = await setUp();
  await writeFile(place.file, "0");
  const edit = (key: string, from: string, to: string) => ({ key, text: key, before: encode(from), after: encode(to) });
  await (await place.history()).commit(edit("first", "0", "1"));
  const [folder = ""] = await readdir(join(place.workspace.metaRoot, "edits"));
  const file = join(place.workspace.metaRoot, "edits", folder, "history.json");
  // The edit that was made last is still recorded as under way; its staged file is gone.
  const { pending: last, ...record } = JSON.parse(await readFile(file, "utf8"));
  const settled = last.state;
  const state = { ...settled, calls: [...settled.calls, { key: "second", text: "second" }], next: settled.next + 1 };
  const pending = { number: settled.next, to: sha256Of("2"), state };
  await writeFile(file, JSON.stringify({ ...record, settled, pending }));
  await writeFile(join(file, "..", `${settled.next}.after`), "2");
  for (const _ of ["once", "again"]) {
    const history = await place.history();
    expect([history.answerTo("first"), history.answerTo("second")]).toEqual(["first", undefined]);
  }
  expect((await readdir(join(file, ".."))).filter((name) => name.endsWith(".after"))).toEqual([]);
});

test("what a file was before is for this process's user alone, and a refused edit leaves nothing of it", async () => {
  await using place = await setUp();
  await writeFile(place.file, "0");
  const history = await place.history();
  await history.commit({ key: "k", text: "", before: encode("0"), after: encode("1") });
  await expect(history.commit({ key: "l", text: "", before: encode("0"), after: encode("2") })).rejects.toThrow();
  const [folder = ""] = await readdir(join(place.workspace.metaRoot, "edits"));
  const path = join(place.workspace.metaRoot, "edits", folder);
  const names = await readdir(path);
  expect(names.filter((name) => name.endsWith(".after"))).toEqual([]);
  const kept = ["", ...names.filter((name) => name.endsWith(".before"))];
  expect(kept.length).toBeGreaterThan(1);
  for (const name of kept) expect([name, (await stat(join(path, name))).mode & 0o077]).toEqual([name, 0]);
});

test("files of one name in two folders have histories of their own, and an edit keeps permissions and owner", async () => {
  await using place = await setUp();
  const { workspace } = place;
  const historyOf = async (path: string) => openEditHistory(workspace, await workspacePathOf(workspace, path));
  await (await historyOf("one/a.txt")).commit({ key: "k", text: "one", before: null, after: encode("1") });
  const other = await historyOf("two/a.txt");
  expect([other.answerTo("k"), await other.lastChange()]).toEqual([undefined, undefined]);
  const isRoot = process.getuid?.() === 0;
  const [uid, gid] = isRoot ? [4_242, 4_343] : [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const stats = { mode: 0o640, uid, gid };
  await other.commit({ key: "k", text: "two", before: null, after: encode("2"), stats });
  const found = await stat(join(workspace.root, "two/a.txt"));
  expect([found.mode & 0o777, found.uid, found.gid]).toEqual([0o640, uid, gid]);
});

import { expect, test } from "bun:test";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspacePathOf } from "../../machine/workspace/workspace-file.ts";
import { workspaceForTest } from "../../testing/workspace.ts";
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

test("a history is limited: the oldest edits are dropped, with their snapshots", async () => {
  await using place = await setUp();
  await writeFile(place.file, "0");
  const history = await place.history();
  for (let n = 1; n <= 105; n++)
    await history.commit({ key: `k${n}`, text: "done", before: encode(String(n - 1)), after: encode(String(n)) });
  expect(await place.snapshots()).toHaveLength(100);
  expect(history.answerTo("k1")).toBeUndefined();
  expect(history.answerTo("k105")).toBe("done");
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

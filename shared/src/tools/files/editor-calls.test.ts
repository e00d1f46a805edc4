import { expect, test } from "bun:test";
import { link, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { sha256Of } from "../../core/text/sha256.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { maxShown } from "./numbered-lines.ts";
import { createStrReplaceEditor } from "./str-replace-editor.ts";

async function setUp() {
  const place = await workspaceForTest();
  const { root } = place.workspace;
  const queue = createKeyedQueue();
  const editor = createStrReplaceEditor(queue);
  const call = (input: object, signal = new AbortController().signal) =>
    editor.call(input, { ...contextForTest(place.workspace), signal });
  return { ...place, root, queue, editor, call, at: (path: string) => join(root, path) };
}

test("a call says which file it changes, only views, and of what kind it is", async () => {
  const tool = createStrReplaceEditor();
  const [view, insert] = ["view", "insert"].map((command) => ({
    command,
    path: "a.txt",
    insert_line: 0,
    new_str: "x",
  }));
  const { edits } = tool;
  expect(typeof edits === "function" && edits(insert)).toEqual(["a.txt"]);
  expect([tool.views?.(view), tool.views?.(insert)]).toEqual(["a.txt", undefined]);
  expect([tool.effect(view), tool.effect(insert)]).toEqual(["pure", "idempotent"]);
  expect([tool.sameKind?.(view, undefined), tool.sameKind?.(insert, undefined)]).toEqual([
    "that reads a.txt",
    "that changes a.txt",
  ]);
});

test("only a view of the whole file shows it whole", async () => {
  await using place = await setUp();
  const short = "one\ntwo\n";
  await writeFile(place.at("a.txt"), short);
  await writeFile(place.at("long.txt"), "line\n".repeat(maxShown));
  const shows = async (input: object) => (await place.call({ command: "view", ...input })).shows;
  expect(await shows({ path: "a.txt" })).toMatchObject({ of: "file a.txt", whole: sha256Of(short) });
  expect((await shows({ path: "a.txt", view_range: [1, -1] }))?.whole).toBeUndefined();
  expect((await shows({ path: "long.txt" }))?.whole).toBeUndefined();
});

test("a range has two lines, and a long text that is cut within a character is text all the same", async () => {
  await using place = await setUp();
  await writeFile(place.at("a.txt"), "one\ntwo\nthree\n");
  for (const view_range of [[], [1], [1, 2, 3]])
    expect(await place.call({ command: "view", path: "a.txt", view_range })).toMatchObject({
      isError: true,
      text: expect.stringContaining("It should be a list of two integers."),
    });
  await writeFile(place.at("euro.txt"), `a${"€".repeat(4 * maxShown)}`);
  const { text } = await place.call({ command: "view", path: "euro.txt" });
  expect(text).toContain("a€€€");
  expect(text).not.toContain("not valid UTF-8");
});

test("a view and an edit that waits are not done for a call that was given up", async () => {
  await using place = await setUp();
  await writeFile(place.at("a.txt"), "old");
  const reason = new Error("enough");
  await expect(place.call({ command: "view", path: "a.txt" }, AbortSignal.abort(reason))).rejects.toBe(reason);
  const gate = Promise.withResolvers<void>();
  const before = place.queue(place.at("a.txt"), () => gate.promise);
  const leaving = new AbortController();
  const edit = { command: "str_replace", path: "a.txt", old_str: "old", new_str: "new" };
  const waiting = place.call(edit, leaving.signal);
  // Another name of the same file waits in the same line.
  const other = place.call({ ...edit, path: "./a.txt", new_str: "newer" });
  await Bun.sleep(50);
  expect(await Bun.file(place.at("a.txt")).text()).toBe("old");
  leaving.abort(reason);
  gate.resolve();
  await before;
  await expect(waiting).rejects.toBe(reason);
  expect((await other).isError).toBe(false);
  expect(await Bun.file(place.at("a.txt")).text()).toBe("newer");
});

test("a file of ten megabytes may be edited, a larger one and one with several names not, not even as a whole", async () => {
  await using place = await setUp();
  await writeFile(place.at("large"), "");
  const told = async (size: number) => {
    await truncate(place.at("large"), size);
    return (await place.call({ command: "str_replace", path: "large", old_str: "a", new_str: "b" })).text;
  };
  expect(await told(10 * 1024 ** 2)).toContain("is binary");
  expect(await told(10 * 1024 ** 2 + 1)).toContain("files above 10485760 bytes cannot be edited here");
  await writeFile(place.at("one"), "x");
  await link(place.at("one"), place.at("two"));
  const create = { command: "create", path: "one", file_text: "y", overwrite: true };
  expect((await place.call(create)).text).toContain("has several hard links");
  expect(await Bun.file(place.at("two")).text()).toBe("x");
});

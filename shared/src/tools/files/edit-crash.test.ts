import { afterAll, expect, test } from "bun:test";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundled } from "../../testing/bundled.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createStrReplaceEditor } from "./str-replace-editor.ts";

const program = await bundled(join(import.meta.dir, "../../testing/files/editor-process.ts"));
afterAll(() => program[Symbol.asyncDispose]());

const path = "sub.txt";
const replace = { command: "str_replace", path, old_str: "two", new_str: "2" };
const create = { command: "create", path, file_text: "one two three" };
const undo = { command: "undo_edit", path };

/**
 * A workspace in which `input` was called in a process that was killed before its `crashAt`-th disk
 * change.
 */
async function crashed(before: string | undefined, earlier: object[], input: object, crashAt: number) {
  const place = await workspaceForTest();
  const editor = createStrReplaceEditor();
  const call = (what: object, key: string = crypto.randomUUID()) =>
    editor.call(what, contextForTest(place.workspace, { key }));
  if (before !== undefined) await writeFile(join(place.workspace.root, path), before);
  for (const what of earlier) await call(what);
  const child = Bun.spawn({
    cmd: [
      process.execPath,
      "--preload",
      join(import.meta.dir, "../../testing/files/crash-at.ts"),
      program.path,
      place.home,
      JSON.stringify(input),
      "run/1",
    ],
    env: { ...process.env, CRASH_AT: String(crashAt) },
    stdout: "pipe",
    stderr: "inherit",
  });
  const told = await new Response(child.stdout).text();
  const wasKilled = (await child.exited) !== 0;
  const content = async () => {
    const file = Bun.file(join(place.workspace.root, path));
    return (await file.exists()) ? await file.text() : undefined;
  };
  return { ...place, call, told, wasKilled, content };
}

/**
 * Kills at every disk change in turn until one process completes; returns how often it was killed.
 */
async function atEveryChange(check: (crashAt: number) => Promise<{ wasKilled: boolean }>): Promise<number> {
  for (let crashAt = 1; ; crashAt++) if (!(await check(crashAt)).wasKilled) return crashAt - 1;
}

const cases = [
  {
    name: "str_replace",
    input: replace,
    before: "one two three",
    after: "one 2 three",
    earlier: [],
    undone: "one two three",
  },
  { name: "create", input: create, before: undefined, after: "one two three", earlier: [], undone: undefined },
  {
    name: "undo_edit",
    input: undo,
    before: "two two.",
    after: "two two!",
    earlier: [
      { ...replace, old_str: "two.", new_str: "two!" },
      { ...replace, old_str: "!", new_str: "?" },
    ],
    undone: "two two.",
  },
  {
    name: "undo_edit of a create",
    input: undo,
    before: undefined,
    after: undefined,
    earlier: [create],
    undone: undefined,
  },
];

test.each(cases)(
  "$name, killed at any moment, leaves the old file or the new one, and takes effect once when repeated",
  async ({ input, before, earlier, after, undone }) => {
    const start = earlier.length === 0 ? before : earlier.length === 1 ? create.file_text : "two two?";
    const kills = await atEveryChange(async (crashAt) => {
      await using place = await crashed(before, earlier, input, crashAt);
      expect([start, after]).toContain(await place.content());
      const again = await place.call(input, "run/1");
      expect(again.isError).toBe(false);
      if (!place.wasKilled) expect(again.text).toBe(place.told);
      expect(await place.content()).toBe(after);
      const shown = await readdir(place.workspace.root);
      expect(shown).toEqual(after === undefined ? [] : [path]);
      if (after !== undefined) expect((await place.call(undo)).isError).toBe(false);
      expect(await place.content()).toBe(undone);
      expect((await place.call(undo)).isError).toBe(true);
      return place;
    });
    expect(kills).toBeGreaterThan(6);
  },
);

test("after a kill another edit continues from the current state, and undoing everything restores the first content", async () => {
  const kills = await atEveryChange(async (crashAt) => {
    await using place = await crashed("one two three", [], replace, crashAt);
    const found = await place.content();
    await place.call({ command: "insert", path, insert_line: 0, new_str: "zero" });
    expect(await place.content()).toBe(`zero\n${found}`);
    const undone = [];
    while (!(await place.call(undo)).isError) undone.push(await place.content());
    expect(undone).toEqual(found === "one two three" ? [found] : [found, "one two three"]);
    return place;
  });
  expect(kills).toBeGreaterThan(6);
});

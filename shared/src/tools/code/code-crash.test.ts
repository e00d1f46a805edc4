import { afterAll, expect, test } from "bun:test";
import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import type { Workspace } from "../../core/workspace.ts";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { bundled } from "../../testing/bundled.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createStrReplaceEditor } from "../files/str-replace-editor.ts";
import { createCheckpointStore } from "./checkpoints/checkpoint-store.ts";
import { checkpointsTool } from "./checkpoints/checkpoints-tool.ts";
import { applyPatchTool } from "./patch/apply-patch.ts";

const program = await bundled(join(import.meta.dir, "../../testing/code/code-process.ts"));
afterAll(() => program[Symbol.asyncDispose]());

const key = "run/1";
const queue = createKeyedQueue();
const patchTool = applyPatchTool({ queue });
const patch =
  "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n--- gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n--- /dev/null\n+++ n.txt\n@@ -0,0 +1 @@\n+n\n";
const blocked = `${patch.slice(0, patch.indexOf("--- /dev/null"))}--- /dev/null\n+++ wall.txt/x.txt\n@@ -0,0 +1 @@\n+x\n`;
const files = { "a.txt": "a\n", "gone.txt": "gone\n", "wall.txt": "wall\n" };
const patched = { "a.txt": "b\n", "n.txt": "n\n", "wall.txt": "wall\n" };

async function contents({ root }: Workspace): Promise<Record<string, string>> {
  const names = (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).sort();
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await Bun.file(join(root, path)).text()])),
  );
}

/**
 * For each moment at which a call can be killed, opens a workspace in the state after that; ends
 * with one in which the call completed.
 */
async function* afterEachKill(prepare: (workspace: Workspace) => Promise<void>, name: string, input: object) {
  const template = await mkdtemp(join(tmpdir(), "manyhands-crash-"));
  const open = (home: string) => openWorkspace({ home, principal: "alice", contextId: "c1" });
  try {
    await prepare(await open(template));
    for (let crashAt = 1, killed = true; killed; crashAt++) {
      const home = `${template}-${crashAt}`;
      await cp(template, home, { recursive: true, preserveTimestamps: true });
      try {
        const preload = join(import.meta.dir, "../../testing/files/crash-at.ts");
        const child = Bun.spawn({
          cmd: [process.execPath, "--preload", preload, program.path, home, name, JSON.stringify(input), key],
          env: { ...process.env, CRASH_AT: String(crashAt) },
          stderr: "inherit",
        });
        killed = (await child.exited) !== 0;
        yield { workspace: await open(home), killed };
      } finally {
        await rm(home, { recursive: true });
      }
    }
  } finally {
    await rm(template, { recursive: true });
  }
}

const put =
  (what: Record<string, string>) =>
  async ({ root }: Workspace) => {
    for (const [path, text] of Object.entries(what)) await writeFile(join(root, path), text);
  };

test("a patch killed at any moment leaves no half-written file, completes when repeated, and can be undone", async () => {
  let kills = 0;
  for await (const { workspace, killed } of afterEachKill(put(files), "apply_patch", { patch })) {
    kills += Number(killed);
    for (const [path, text] of Object.entries(await contents(workspace)))
      expect([Reflect.get(files, path), Reflect.get(patched, path)]).toContain(text);
    const { isError, text } = await patchTool.call({ patch }, contextForTest(workspace, { key }));
    expect({ isError, text }).toMatchObject({ isError: false, text: expect.stringContaining("applied to") });
    expect(await contents(workspace)).toEqual(patched);
    const editor = createStrReplaceEditor(queue);
    for (const path of ["a.txt", "n.txt"]) await editor.call({ command: "undo_edit", path }, contextForTest(workspace));
    expect(await contents(workspace)).toEqual({ "a.txt": "a\n", "wall.txt": "wall\n" });
  }
  expect(kills).toBeGreaterThan(15);
});

test("a patch that cannot be applied, killed at any moment and repeated, changes nothing", async () => {
  let kills = 0;
  for await (const { workspace, killed } of afterEachKill(put(files), "apply_patch", { patch: blocked })) {
    kills += Number(killed);
    const { isError } = await patchTool.call({ patch: blocked }, contextForTest(workspace, { key }));
    expect(isError).toBe(true);
    expect(await contents(workspace)).toEqual(files);
  }
  expect(kills).toBeGreaterThan(20);
});

test("an archive whose unpacking is killed at any moment exists whole or not at all", async () => {
  const entries = new Map([
    ["p/a.txt", "a\n"],
    ["p/b/c.txt", "c\n"],
  ]);
  const archive = await new Bun.Archive(Object.fromEntries(entries)).bytes();
  const prepare = ({ root }: Workspace) => writeFile(join(root, "p.tar"), archive);
  let kills = 0;
  for await (const { workspace, killed } of afterEachKill(prepare, "unpack", { path: "p.tar" })) {
    kills += Number(killed);
    const { "p.tar": _, ...there } = await contents(workspace);
    expect([{}, Object.fromEntries(entries)]).toContainEqual(there);
  }
  expect(kills).toBeGreaterThan(4);
});

test("a restore killed at any moment completes when repeated, and can still be undone", async () => {
  const checkpoints = createCheckpointStore();
  const prepare = async (workspace: Workspace) => {
    await put(files)(workspace);
    await checkpoints.take(workspace, { key: "run/0", tool: "bash", about: "" });
    await rm(join(workspace.root, "gone.txt"));
    await put({ "a.txt": "b\n", "n.txt": "n\n" })(workspace);
  };
  const tool = checkpointsTool(checkpoints);
  let kills = 0;
  for await (const { workspace, killed } of afterEachKill(prepare, "checkpoints", { command: "restore", id: 1 })) {
    kills += Number(killed);
    await tool.call({ command: "restore", id: 1 }, contextForTest(workspace, { key }));
    expect(await contents(workspace)).toEqual(files);
    await tool.call({ command: "restore", id: 2 }, contextForTest(workspace));
    expect(await contents(workspace)).toEqual(patched);
  }
  expect(kills).toBeGreaterThan(5);
});

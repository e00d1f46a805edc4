import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { recordBaseline } from "../../../machine/workspace/baseline.ts";
import { keptContent } from "../../../machine/workspace/kept-content.ts";
import { openWorkspace } from "../../../machine/workspace/open-workspace.ts";
import { type CodePlace, callIn, openCodePlace } from "../../../testing/code/code-place.ts";
import { contextForTest } from "../../../testing/tool-context.ts";
import { createStrReplaceEditor } from "../../files/str-replace-editor.ts";
import { bashTool, createShellSessions } from "../../shell/bash-tool.ts";
import type { SessionPool } from "../../shell/session-pool.ts";
import { unpackTool } from "../unpack.ts";
import { createCheckpointStore } from "./checkpoint-store.ts";
import { checkpointsTool } from "./checkpoints-tool.ts";
import { withCheckpoints } from "./with-checkpoints.ts";

let place: CodePlace;
let sessions: SessionPool;
let bash: Tool;
const checkpoints = createCheckpointStore();
const tool = checkpointsTool(checkpoints);
const editor = withCheckpoints(createStrReplaceEditor(), checkpoints);

beforeAll(async () => {
  place = await openCodePlace();
  sessions = createShellSessions(place.sandbox);
  bash = withCheckpoints(bashTool({ sessions }), checkpoints);
});
afterAll(async () => {
  await sessions.close();
  await place.close();
});

const read = (workspace: Workspace, path: string) => Bun.file(join(workspace.root, path)).text();
const ask = async (workspace: Workspace, input: Record<string, unknown>) => (await callIn(workspace)(tool, input)).text;

test("each call that changed files is a checkpoint, whatever the tool, and any of them can be undone", async () => {
  const workspace = await place.project({ "a.txt": "one\n", "sub/b.txt": "b\n" });
  const call = callIn(workspace);
  await call(editor, { command: "view", path: "a.txt" });
  await call(editor, { command: "str_replace", path: "a.txt", old_str: "one", new_str: "two" });
  await call(bash, { command: "ls" });
  await call(bash, { command: "rm -r sub; mkdir -p new/deep; echo n > new/deep/n.txt; chmod +x new/deep/n.txt" });
  const list = (await ask(workspace, { command: "list" })).replaceAll(/\d\d:\d\d:\d\d/g, "TIME");
  expect(list).toBe(
    "1  TIME  str_replace_editor str_replace a.txt\n   M a.txt\n" +
      "2  TIME  bash rm -r sub; mkdir -p new/deep; echo n > new/deep/n.txt; chmod +x new/deep/n.txt\n   A new/deep/n.txt, D sub/b.txt",
  );
  expect(await ask(workspace, { command: "diff", id: 2 })).toContain("--- a/sub/b.txt\n+++ /dev/null");
  expect(await ask(workspace, { command: "diff", id: 1, path: "a.txt" })).toEndWith("-one\n+two\n");
  expect(await ask(workspace, { command: "restore", id: 2 })).toBe("Restored state 2: D new/deep/n.txt, A sub/b.txt");
  expect(await read(workspace, "sub/b.txt")).toBe("b\n");
  expect(await readdir(workspace.root)).not.toContain("new");
  expect(await ask(workspace, { command: "restore", id: 1, path: "a.txt" })).toBe("Restored state 1: M a.txt");
  expect(await read(workspace, "a.txt")).toBe("one\n");
  expect(await ask(workspace, { command: "restore", id: 3 })).toContain("A new/deep/n.txt");
  expect((await stat(join(workspace.root, "new/deep/n.txt"))).mode & 0o777).toBe(0o755);
  expect((await stat(join(workspace.root, "new/deep"))).uid).toBe((await stat(workspace.root)).uid);
  expect(await ask(workspace, { command: "restore", id: 99 })).toContain("There is no state 99");
});

test("a checkpoint with content damaged by a power cut is not restored, not even in part", async () => {
  const workspace = await place.project({ "a.txt": "one\n", "b.txt": "kept\n" });
  await callIn(workspace)(bash, { command: "echo two > a.txt; rm b.txt" });
  const sha256 = new Bun.CryptoHasher("sha256").update("one\n").digest("hex");
  await writeFile(join(workspace.metaRoot, "content", sha256), "on\0\0");
  expect(await ask(workspace, { command: "restore", id: 1 })).toContain(
    "a.txt is not kept any more; nothing was restored",
  );
  expect(await read(workspace, "a.txt")).toBe("two\n");
  expect(await readdir(workspace.root)).not.toContain("b.txt");
});

test("undoing an unpack removes the whole project, redoing restores it whole, and it may be unpacked again", async () => {
  const workspace = await place.project({ "proj/a.txt": "a\n", "proj/.git/HEAD": "ref\n" });
  await symlink("a.txt", join(workspace.root, "proj/link"));
  Bun.spawnSync(["tar", "-cf", "proj.tar", "--remove-files", "proj"], { cwd: workspace.root });
  await workspace.adopt(".");
  const unpack = withCheckpoints(unpackTool(place), checkpoints);
  const call = callIn(workspace);
  await call(unpack, { path: "proj.tar" });
  await call(editor, { command: "str_replace", path: "proj/a.txt", old_str: "a", new_str: "b" });
  await ask(workspace, { command: "restore", id: 1 });
  expect(await readdir(workspace.root)).toEqual(["proj.tar"]);
  await ask(workspace, { command: "restore", id: 3 });
  expect((await readdir(join(workspace.root, "proj"))).sort()).toEqual([".git", "a.txt", "link"]);
  expect([await read(workspace, "proj/link"), await read(workspace, "proj/.git/HEAD")]).toEqual(["b\n", "ref\n"]);
  await ask(workspace, { command: "restore", id: 1 });
  expect((await call(unpack, { path: "proj.tar" })).text).toStartWith("Unpacked 2 files");
  await ask(workspace, { command: "restore", id: 3 });
  expect([await read(workspace, "proj/link"), await read(workspace, "proj/.git/HEAD")]).toEqual(["b\n", "ref\n"]);
});

test("a file that became a folder is restored as a file", async () => {
  const workspace = await place.project({ a: "a file\n" });
  await callIn(workspace)(bash, { command: "rm a; mkdir a; echo b > a/b" });
  expect(await ask(workspace, { command: "restore", id: 1 })).toBe("Restored state 1: A a, D a/b");
  expect(await read(workspace, "a")).toBe("a file\n");
});

test("a hostile workspace does no harm: links are not followed, pipes not opened, git's settings not obeyed", async () => {
  const workspace = await place.project({ ".gitattributes": "* filter=evil\n", "proj/a.txt": "a\n" });
  await mkdir(join(workspace.root, "proj/.git"));
  await writeFile(join(workspace.root, "proj/.git/config"), "[core]\nfsmonitor = touch /tmp/evil\n");
  await mkdir(join(workspace.root, "proj/node_modules"));
  await writeFile(join(workspace.root, "proj/node_modules/x.js"), "x\n");
  await writeFile(join(workspace.root, "big.bin"), new Uint8Array(6 * 1024 ** 2));
  await symlink("/etc", join(workspace.root, "etc"));
  await writeFile(join(workspace.root, "line\nbreak.txt"), "x\n");
  await writeFile(Buffer.concat([Buffer.from(`${workspace.root}/`), Buffer.from([0xff, 0xfe])]), "x\n");
  Bun.spawnSync(["mkfifo", join(workspace.root, "pipe")]);
  await checkpoints.take(workspace, { key: "k", tool: "bash", about: "" });
  const [checkpoint] = await Array.fromAsync(checkpoints.all(workspace));
  expect(checkpoint?.files.map(({ path }) => path)).toEqual([".gitattributes", "proj/a.txt"]);
});

test("a file meanwhile replaced by a link to the outside is not written through", async () => {
  const workspace = await place.project({ "d/a.txt": "a\n" });
  await callIn(workspace)(bash, { command: "rm -r d; ln -s /tmp d" });
  expect(await ask(workspace, { command: "restore", id: 1 })).toContain("outside the workspace");
});

test("a call resumed after a crash has one checkpoint, and a second process sees it", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  const context = contextForTest(workspace, { key: "run/1" });
  await editor.call({ command: "create", path: "b.txt", file_text: "b" }, context);
  await editor.call({ command: "create", path: "b.txt", file_text: "b" }, context);
  const all = await Array.fromAsync(createCheckpointStore().all(workspace));
  expect(all.map(({ id, files }) => [id, files.length])).toEqual([[1, 1]]);
});

test("after a kill at any moment every existing checkpoint can be restored and the next one is taken", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-checkpoints-"));
  try {
    for (const delay of [20, 45, 70]) {
      const child = Bun.spawn(
        [process.execPath, resolve(import.meta.dir, "../../../testing/code/checkpoint-process.ts"), home],
        {
          stdout: "pipe",
        },
      );
      await child.stdout.getReader().read();
      await Bun.sleep(delay);
      child.kill("SIGKILL");
      await child.exited;
      const workspace = await openWorkspace({ home, principal: "alice", contextId: "c" });
      const all = await Array.fromAsync(checkpoints.all(workspace));
      expect(all.length).toBeGreaterThan(0);
      for (const { sha256 } of all.flatMap(({ files }) => files))
        expect(await keptContent(workspace, sha256)).toBeDefined();
      await checkpoints.take(workspace, { key: `after ${delay}`, tool: "bash", about: "" });
      // A busy machine may have let it take so many that this one removed the first.
      const [oldest] = await Array.fromAsync(checkpoints.all(workspace));
      expect(await ask(workspace, { command: "restore", id: oldest?.id })).toStartWith("Restored");
    }
  } finally {
    await rm(home, { recursive: true });
  }
});

test("a file that cannot be saved does not stop the work, and is reported", async () => {
  const workspace = await place.project({ "a.txt": "a\n" });
  await writeFile(join(workspace.metaRoot, "checkpoints"), "in the way");
  const { text, isError } = await callIn(workspace)(editor, { command: "create", path: "b.txt", file_text: "b" });
  expect(isError).toBe(false);
  expect(text).toContain("[the state before this call could not be saved: ");
});

test("old checkpoints are removed, with the contents only they had", async () => {
  const workspace = await place.project({ "a.txt": "0\n" });
  const folder = join(workspace.metaRoot, "checkpoints");
  await mkdir(folder);
  // As a killed process leaves one.
  await writeFile(join(folder, "7.json.half"), "{");
  for (let round = 1; round <= 125; round++) {
    await checkpoints.take(workspace, { key: `k${round}`, tool: "bash", about: "" });
    await writeFile(join(workspace.root, "a.txt"), `${round}\n`);
  }
  const all = await Array.fromAsync(checkpoints.all(workspace));
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: 105 }, (_, n) => n + 21));
  const kept = await readdir(join(workspace.metaRoot, "content"));
  expect((await readdir(folder)).filter((name) => name.endsWith(".half"))).toEqual([]);
  expect(kept.length).toBe(new Set(all.flatMap(({ files }) => files.map(({ sha256 }) => sha256))).size);
});

test("the files that were sent are kept when old checkpoints are removed, so that changes to them can be shown", async () => {
  const sent = "as it was sent\n";
  const workspace = await place.project({ "sent.txt": sent });
  const baseline = { root: "sent.txt", files: [{ path: "sent.txt", sha256: sha256Of(sent) }] };
  await recordBaseline(workspace, baseline, () => new Blob([sent]));
  await writeFile(join(workspace.root, "sent.txt"), "as it became\n");
  for (let round = 1; round <= 125; round++) {
    await writeFile(join(workspace.root, "a.txt"), `${round}\n`);
    await checkpoints.take(workspace, { key: `k${round}`, tool: "bash", about: "" });
  }
  expect((await Array.fromAsync(checkpoints.all(workspace)))[0]?.id).toBeGreaterThan(1);
  expect(await ask(workspace, { command: "diff" })).toContain("-as it was sent\n+as it became\n");
});

test("a second checkpoint of a thousand files reads none of them again", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1000 }, (_, n) => [`d${n % 30}/f${n}.txt`, `${n}\n`.repeat(200)]),
  );
  const workspace = await place.project(files);
  const timed = async (key: string) => {
    const started = performance.now();
    await checkpoints.take(workspace, { key, tool: "bash", about: "" });
    return performance.now() - started;
  };
  const first = await timed("1");
  await chmod(join(workspace.root, "d1/f1.txt"), 0o644);
  const second = await timed("2");
  expect(second).toBeLessThan(first);
});

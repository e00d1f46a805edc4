import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { chown, mkdir, open, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { putFile, saveFile } from "./save-file.ts";
import { stageFile } from "./staged-file.ts";
import { workspacePathOf } from "./workspace-file.ts";

let scene: Awaited<ReturnType<typeof workspaceForTest>>;
beforeEach(async () => {
  scene = await workspaceForTest();
  await mkdir(join(scene.workspace.root, ".git/hooks"), { recursive: true });
});
afterEach(() => scene[Symbol.asyncDispose]());

const bytes = Buffer.from("echo planted");

test("a protected name is refused however its path is written", async () => {
  const { workspace } = scene;
  await symlink(".git", join(workspace.root, "link"));
  await symlink(".git/hooks", join(workspace.root, "hooks"));
  const spellings = [
    ".git/hooks/pre-commit",
    ".git/./hooks/pre-commit",
    ".git//hooks/pre-commit",
    "sub/../.git/hooks/../hooks/pre-commit",
    join(workspace.root, ".git", ".", "hooks", "pre-commit"),
    "link/hooks/pre-commit",
    "hooks/pre-commit",
    "./.bashrc",
    "sub/.//.envrc",
  ];
  for (const path of spellings)
    await expect(saveFile(workspace, path, bytes)).rejects.toMatchObject({ code: "forbidden" });
  expect(await readdir(join(workspace.root, ".git/hooks"))).toEqual([]);
  expect((await readdir(workspace.root)).sort()).toEqual([".git", "hooks", "link"]);
});

test("any other file is put where its path leads, and its path is told as the workspace has it", async () => {
  const { workspace } = scene;
  expect(await saveFile(workspace, "a/./b/../c.txt", bytes)).toBe("a/c.txt");
  expect(await Bun.file(join(workspace.root, "a/c.txt")).text()).toBe("echo planted");
});

test("a file replaces another unless the name is to be free, with the permissions asked for, and leaves none half written", async () => {
  const { workspace } = scene;
  const modeOf = async (path: string) => (await stat(join(workspace.root, path))).mode & 0o7777;
  await saveFile(workspace, "a.txt", Buffer.from("first"));
  await saveFile(workspace, "a.txt", bytes);
  expect([await Bun.file(join(workspace.root, "a.txt")).text(), await modeOf("a.txt")]).toEqual([
    "echo planted",
    0o644,
  ]);
  const free = saveFile(workspace, "a.txt", Buffer.from("third"), { exclusive: true });
  await expect(free).rejects.toMatchObject({ code: "conflict", message: "There is a a.txt already." });
  await expect(saveFile(workspace, ".git", bytes)).rejects.toMatchObject({ code: "forbidden" });
  await mkdir(join(workspace.root, "folder"));
  await expect(saveFile(workspace, "folder", bytes)).rejects.toMatchObject({ code: "conflict" });
  const failing = new ReadableStream({ start: (body) => body.error(new Error("cut off")) });
  await expect(saveFile(workspace, "b.txt", failing)).rejects.toThrow("cut off");
  const staged = join(scene.home, "staged");
  const cut = new ReadableStream({ start: (body) => body.error(new Error("cut off")) });
  await expect(stageFile(staged, cut, { uid: 0, gid: 0 })).rejects.toThrow("cut off");
  expect(await Bun.file(staged).exists()).toBe(false);
  // Nobody else reads it before it is whole, whatever a killed process has left there.
  await Bun.write(staged, "half written");
  const modes: number[] = [];
  const source = {
    async pull(body: ReadableStreamDefaultController<Uint8Array>) {
      modes.push((await stat(staged)).mode & 0o777);
      body.enqueue(bytes);
      body.close();
    },
  };
  const slow = new ReadableStream(source, { highWaterMark: 0 });
  await stageFile(staged, slow, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  expect([modes, (await stat(staged)).mode & 0o777, await Bun.file(staged).text()]).toEqual([
    [0o600],
    0o644,
    "echo planted",
  ]);
  await putFile(workspace, await workspacePathOf(workspace, "run"), bytes, true, 0o4755);
  expect(await modeOf("run")).toBe(0o755);
  const staging = join(workspace.metaRoot, "staging");
  expect([await readdir(staging), (await stat(staging)).mode & 0o777]).toEqual([[], 0o700]);
  expect((await readdir(workspace.root)).sort()).toEqual([".git", "a.txt", "folder", "run"]);
});

test.if(process.getuid?.() === 0)(
  "the tools' user owns the file and each new folder on the way to it, and nobody else's",
  async () => {
    const { root } = scene.workspace;
    await mkdir(join(root, "theirs"));
    await chown(root, 65534, 65534);
    await saveFile(scene.workspace, "theirs/a/b/c.txt", bytes);
    const owners = await Promise.all(
      ["theirs", "theirs/a", "theirs/a/b", "theirs/a/b/c.txt"].map((path) => stat(join(root, path))),
    );
    expect(owners.map(({ uid }) => uid)).toEqual([0, 65534, 65534, 65534]);
  },
);

test("content is on the disk before it has its name, and its name before it counts as saved", async () => {
  const { workspace } = scene;
  const own = await open(workspace.root, "r");
  const handles = Object.getPrototypeOf(own);
  await own.close();
  const synced: boolean[] = [];
  const { sync } = handles;
  using _ = spyOn(handles, "sync").mockImplementation(async function (this: unknown) {
    synced.push((await readdir(workspace.root)).includes("a.txt"));
    await sync.call(this);
  });
  await saveFile(workspace, "a.txt", bytes);
  expect(synced).toEqual([false, true]);
  await saveFile(workspace, "b.txt", bytes, { exclusive: true });
  expect(synced).toHaveLength(4);
});

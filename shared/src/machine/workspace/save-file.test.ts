import { afterEach, beforeEach, expect, test } from "bun:test";
import { chown, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { saveFile } from "./save-file.ts";

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

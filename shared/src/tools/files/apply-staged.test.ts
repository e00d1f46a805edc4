import { expect, test } from "bun:test";
import { chown, link, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../core/text/sha256.ts";
import { workspacePathOf } from "../../machine/workspace/workspace-file.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { applyStaged, currentHash } from "./apply-staged.ts";

test("a staged file takes its place only if what is there is what was read, and is gone afterwards", async () => {
  await using made = await workspaceForTest();
  const { workspace } = made;
  const staged = join(workspace.metaRoot, "staged");
  await mkdir(workspace.metaRoot, { recursive: true });
  const place = await workspacePathOf(workspace, "new/a.txt");
  const path = join(workspace.root, "new/a.txt");
  const there = () => readFile(path, "utf8").catch(() => null);
  const apply = async (from: string | null, to: string | null) => {
    await writeFile(staged, to ?? "left over");
    const hash = (text: string | null) => (text === null ? null : sha256Of(text));
    const done = await applyStaged(workspace, place, staged, { from: hash(from), to: hash(to) });
    return [done, await there(), await Bun.file(staged).exists()];
  };
  expect(await apply(null, "one")).toEqual([true, "one", false]);
  expect(await apply(null, "two")).toEqual([false, "one", true]);
  expect(await apply("other", "two")).toEqual([false, "one", true]);
  expect(await apply("one", "two")).toEqual([true, "two", false]);
  expect(await apply("one", null)).toEqual([false, "two", true]);
  expect(await apply("two", null)).toEqual([true, null, false]);
});

test("a place has a file, nothing, or something that is no file", async () => {
  await using made = await workspaceForTest();
  const { workspace } = made;
  await mkdir(join(workspace.root, "folder"));
  await writeFile(join(workspace.root, "a.txt"), "a");
  await symlink("a.txt", join(workspace.root, "link"));
  const hashAt = async (path: string) => currentHash(workspace, await workspacePathOf(workspace, path));
  expect([await hashAt("a.txt"), await hashAt("none"), await hashAt("none/below")]).toEqual([
    sha256Of("a"),
    null,
    null,
  ]);
  expect([await hashAt("folder"), await hashAt("a.txt/below")]).toEqual([undefined, undefined]);
});

test.skipIf(process.getuid?.() !== 0)("another user's file that was linked in is none of the workspace's", async () => {
  await using made = await workspaceForTest();
  const { workspace } = made;
  const outside = join(workspace.metaRoot, "outside");
  await mkdir(workspace.metaRoot, { recursive: true });
  await writeFile(outside, "another user's");
  await chown(outside, 12345, 12345);
  await link(outside, join(workspace.root, "linked.txt"));
  expect(await currentHash(workspace, await workspacePathOf(workspace, "linked.txt"))).toBeUndefined();
});

import { expect, spyOn, test } from "bun:test";
import { chown, link, mkdir, open, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../core/text/sha256.ts";
import * as staging from "../../machine/workspace/staged-file.ts";
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

test("a removal makes no folders, and is on the disk before it counts as made", async () => {
  await using made = await workspaceForTest();
  const { workspace } = made;
  await writeFile(join(workspace.root, "a.txt"), "a");
  const staged = join(workspace.metaRoot, "staged");
  const missing = await workspacePathOf(workspace, "not/there/b.txt");
  await expect(applyStaged(workspace, missing, staged, { from: null, to: null })).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await readdir(workspace.root)).toEqual(["a.txt"]);
  const own = await open(workspace.root, "r");
  const handles = Object.getPrototypeOf(own);
  await own.close();
  const { sync } = handles;
  const synced: string[][] = [];
  using _ = spyOn(handles, "sync").mockImplementation(async function (this: unknown) {
    synced.push(await readdir(workspace.root));
    await sync.call(this);
  });
  const place = await workspacePathOf(workspace, "a.txt");
  expect(await applyStaged(workspace, place, staged, { from: sha256Of("a"), to: null })).toBe(true);
  expect(synced).toEqual([[]]);
});

test("a file that came after the look is not replaced by one that was to be new", async () => {
  await using made = await workspaceForTest();
  const { workspace } = made;
  const path = join(workspace.root, "a.txt");
  const file = join(workspace.metaRoot, "staged");
  await mkdir(workspace.metaRoot, { recursive: true });
  await writeFile(file, "ours");
  const { addStaged } = staging;
  using _ = spyOn(staging, "addStaged").mockImplementation(async (...args) => {
    await writeFile(path, "theirs");
    await addStaged(...args);
  });
  const place = await workspacePathOf(workspace, "a.txt");
  expect(await applyStaged(workspace, place, file, { from: null, to: sha256Of("ours") })).toBe(false);
  expect(await readFile(path, "utf8")).toBe("theirs");
});

test.skipIf(process.getuid?.() !== 0)("the folders of a new file belong to whom the workspace does", async () => {
  await using made = await workspaceForTest();
  const { workspace } = made;
  await chown(workspace.root, 12345, 12345);
  const file = join(workspace.metaRoot, "staged");
  await mkdir(workspace.metaRoot, { recursive: true });
  await writeFile(file, "new");
  const place = await workspacePathOf(workspace, "new/a.txt");
  expect(await applyStaged(workspace, place, file, { from: null, to: sha256Of("new") })).toBe(true);
  expect((await stat(join(workspace.root, "new"))).uid).toBe(12345);
});

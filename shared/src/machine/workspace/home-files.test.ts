import { expect, spyOn, test } from "bun:test";
import { mkdirSync } from "node:fs";
import * as disk from "node:fs/promises";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createArtifactStore } from "./artifacts/artifact-store.ts";
import { createHomeFiles } from "./home-files.ts";
import { openWorkspace } from "./open-workspace.ts";

const hour = 60 * 60 * 1000;

/**
 * A home with the named conversations, each with a file two folders deep, last changed so many
 * hours ago.
 */
async function homeWith(ages: Readonly<Record<string, number>>) {
  const home = await mkdtemp(join(tmpdir(), "manyhands-home-"));
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const files = createHomeFiles(home, artifacts);
  const nameOf = (contextId: string) => files.nameOf({ kind: "agent", principal: "alice", contextId });
  const folderOf = (contextId: string) => join(home, "workspaces", nameOf(contextId));
  const age = async (contextId: string, hours: number, names: readonly string[] = parts) => {
    const at = new Date(Date.now() - hours * hour);
    for (const name of names) await utimes(join(folderOf(contextId), name), at, at);
  };
  for (const [contextId, hours] of Object.entries(ages)) {
    const { root } = await openWorkspace({ home, principal: "agent/alice", contextId });
    await mkdir(join(root, "deep"));
    await writeFile(join(root, "deep/file"), "x");
    await age(contextId, hours);
  }
  const there = async () => (await readdir(join(home, "workspaces"))).filter((name) => !name.startsWith("."));
  const old = async (hours: number, limit = 99, except: readonly string[] = []) =>
    (await files.oldWorkspaces(Date.now() - hours * hour, limit, new Set(except))).toSorted();
  return {
    home,
    files,
    artifacts,
    nameOf,
    folderOf,
    age,
    there,
    old,
    [Symbol.asyncDispose]: () => rm(home, { recursive: true, force: true }),
  };
}
const parts = ["files/deep/file", "files/deep", "files", "meta", ""];

test("a workspace is old when nothing in it was changed since, and at most so many are named, without those in use", async () => {
  await using it = await homeWith({ a: 9, b: 8, c: 1 });
  const [a, b] = [it.nameOf("a"), it.nameOf("b")];
  expect(await it.old(5)).toEqual([a, b].toSorted());
  expect(await it.old(8.5)).toEqual([a]);
  expect(await it.old(5, 1)).toHaveLength(1);
  expect(await it.old(5, 99, [a])).toEqual([b]);
  // What somebody else put there is no workspace.
  await mkdir(join(it.home, "workspaces", "notes"));
  await utimes(join(it.home, "workspaces", "notes"), 0, 0);
  expect(await it.old(5)).toEqual([a, b].toSorted());
});

test("a workspace with one newer file, however deep, is not old, and is not searched again until it is", async () => {
  await using it = await homeWith({ a: 9 });
  await it.age("a", 2, ["files/deep/file"]);
  expect(await it.old(5)).toEqual([]);
  expect(Date.now() - (await stat(it.folderOf("a"))).mtimeMs).toBeLessThan(3 * hour);
  await it.age("a", 9, ["files/deep/file"]);
  expect(await it.old(5)).toEqual([]);
  await it.age("a", 9, [""]);
  expect(await it.old(5)).toEqual([it.nameOf("a")]);
});

test("opening a workspace makes it young", async () => {
  await using it = await homeWith({ a: 9 });
  await openWorkspace({ home: it.home, principal: "agent/alice", contextId: "a" });
  expect(await it.old(5)).toEqual([]);
});

test("a conversation's workspace is put aside at once, and removed with the next clearing, locked folders too", async () => {
  await using it = await homeWith({ a: 1, b: 1 });
  const conversation = { kind: "agent", principal: "alice", contextId: "a" } as const;
  await chmod(join(it.folderOf("a"), "files/deep"), 0o000);
  expect(it.files.detach(conversation)).toBe(true);
  expect(await it.there()).toEqual([it.nameOf("b")]);
  expect(it.files.detach(conversation)).toBe(false);
  await it.files.clear();
  expect(await readdir(join(it.home, "workspaces", ".leaving"))).toEqual([]);
  expect(await it.there()).toEqual([it.nameOf("b")]);
});

test("an old workspace is put aside once, and one that was opened meanwhile stays where it is", async () => {
  await using it = await homeWith({ a: 9, b: 1 });
  const before = Date.now() - 5 * hour;
  expect(await it.files.detachOld(it.nameOf("b"), before)).toBe(false);
  expect(await it.there()).toHaveLength(2);
  expect(await it.files.detachOld(it.nameOf("a"), before)).toBe(true);
  expect(await it.files.detachOld(it.nameOf("a"), before)).toBe(false);
  expect(await it.there()).toEqual([it.nameOf("b")]);
});

test("without workspaces there is nothing old and nothing to clear", async () => {
  await using it = await homeWith({});
  expect(await it.old(0)).toEqual([]);
  await it.files.clear();
  expect(await readdir(it.home)).toEqual([]);
});

test("artifacts are old by when they were stored last, and one stored again meanwhile stays", async () => {
  await using it = await homeWith({});
  const [one, two] = await Promise.all(
    ["one", "two"].map((text) => it.artifacts.put(new TextEncoder().encode(text), { name: text })),
  );
  const place = (sha256 = "") => join(it.home, "artifacts", sha256.slice(0, 2), sha256);
  await utimes(place(one?.sha256), 1_000, 1_000);
  const old = async () => (await Array.fromAsync(it.files.oldArtifacts(2_000_000))).flat();
  expect(await old()).toEqual([one?.sha256 ?? ""]);
  await writeFile(join(it.home, "artifacts", place(one?.sha256).split("/").at(-2) ?? "", "stray"), "s");
  await utimes(join(it.home, "artifacts", place(one?.sha256).split("/").at(-2) ?? "", "stray"), 1_000, 1_000);
  expect(await old()).toEqual([one?.sha256 ?? ""]);
  expect(await it.files.removeArtifact(two?.sha256 ?? "", 2_000_000)).toBe(false);
  expect(await (await it.artifacts.get(two?.sha256 ?? ""))?.text()).toBe("two");
  expect(await it.files.removeArtifact(one?.sha256 ?? "", 2_000_000)).toBe(true);
  expect(await it.artifacts.get(one?.sha256 ?? "")).toBeUndefined();
  expect(await it.files.removeArtifact(one?.sha256 ?? "", 2_000_000)).toBe(true);
  expect(await readdir(join(it.home, "artifacts", "leaving"))).toEqual([]);
});

test("an artifact of that very moment is not old and may be removed, and is nobody else's to read", async () => {
  await using it = await homeWith({});
  const { sha256 } = await it.artifacts.put(new TextEncoder().encode("one"), { name: "one" });
  const place = join(it.home, "artifacts", sha256.slice(0, 2), sha256);
  expect((await stat(place)).mode & 0o777).toBe(0o600);
  await utimes(place, 1_000, 1_000);
  const old = async (before: number) => (await Array.fromAsync(it.files.oldArtifacts(before))).flat();
  expect([await old(1_000_000), await old(1_000_001)]).toEqual([[], [sha256]]);
  expect(await it.files.removeArtifact(sha256, 999_999)).toBe(false);
  expect(await it.files.removeArtifact(sha256, 1_000_000)).toBe(true);
});

test("a removal that is under way is left alone by another, and one that was cut off is undone", async () => {
  await using it = await homeWith({});
  const stored = await it.artifacts.put(new TextEncoder().encode("one"), { name: "one" });
  const leaving = join(it.home, "artifacts", "leaving");
  await mkdir(leaving);
  const cut = "a".repeat(64);
  await mkdir(join(it.home, "artifacts", "aa"));
  await writeFile(join(leaving, `${cut}.id`), "cut");
  // It keeps the time of its content, which says nothing about when its removal began.
  await utimes(join(leaving, `${cut}.id`), 1_000, 1_000);
  await it.files.removeArtifact(stored.sha256, Date.now() + hour);
  expect(await readdir(leaving)).toEqual([`${cut}.id`]);
  expect(await it.artifacts.get(cut)).toBeUndefined();
  // Nobody takes a minute to remove one: it was cut off, and the next removal undoes it.
  const later = Date.now() + 61_000;
  using _ = spyOn(Date, "now").mockReturnValue(later);
  await it.files.removeArtifact(stored.sha256, later);
  expect([await readdir(leaving), await (await it.artifacts.get(cut))?.text()]).toEqual([[], "cut"]);
  // What was stored anew meanwhile stays as it is.
  await writeFile(join(leaving, `${cut}.again`), "of before");
  spyOn(Date, "now").mockReturnValue(later + 600_000);
  await it.files.removeArtifact(stored.sha256, later);
  expect([await readdir(leaving), await (await it.artifacts.get(cut))?.text()]).toEqual([[], "cut"]);
});

test("what was changed at that very moment is not old, and what is put aside is nobody else's to see", async () => {
  await using it = await homeWith({ a: 1 });
  const [name, at] = [it.nameOf("a"), 1_000_000];
  for (const part of parts) await utimes(join(it.folderOf("a"), part), at, at);
  const old = (before: number) => it.files.oldWorkspaces(before, 9, new Set());
  expect([await old(at * 1000), await old(at * 1000 + 1)]).toEqual([[], [name]]);
  await utimes(it.folderOf("a"), at - 1, at - 1);
  // Newest is a file in it.
  expect(await old(at * 1000)).toEqual([]);
  await utimes(it.folderOf("a"), at, at);
  expect(await it.files.detachOld(name, at * 1000)).toBe(false);
  expect(await it.files.detachOld(name, at * 1000 + 1)).toBe(true);
  expect((await stat(join(it.home, "workspaces", ".leaving"))).mode & 0o777).toBe(0o700);
});

test("copies of what nobody uses are dropped where there are copies", async () => {
  await using it = await homeWith({});
  const inUse = async () => new Set<string>();
  await it.files.dropCopies(inUse);
  const asked: unknown[] = [];
  const shared = createHomeFiles(it.home, { ...it.artifacts, dropCopies: async (used) => void asked.push(used) });
  await shared.dropCopies(inUse);
  expect(asked).toEqual([inUse]);
});

test("what was opened anew while its old workspace was put aside is left alone, and is not gone", async () => {
  await using it = await homeWith({ a: 1 });
  const letting = it.files.detachOld(it.nameOf("a"), Date.now() - 5 * hour);
  // It was renamed already; nothing else of it runs before this test waits.
  mkdirSync(join(it.folderOf("a"), "files", "new"), { recursive: true });
  expect(await letting).toBe(false);
  expect(await readdir(join(it.folderOf("a"), "files"))).toEqual(["new"]);
});

test("a link counts by itself: what it leads to is not of the workspace, and keeps nothing young", async () => {
  await using it = await homeWith({ a: 9 });
  await mkdir(join(it.home, "elsewhere"));
  await writeFile(join(it.home, "elsewhere", "new"), "x");
  await symlink(join(it.home, "elsewhere"), join(it.folderOf("a"), "files/link"));
  Bun.spawnSync(["touch", "-h", "-d", "9 hours ago", join(it.folderOf("a"), "files/link")]);
  await it.age("a", 9);
  expect(await it.old(5)).toEqual([it.nameOf("a")]);
});

test("an artifact that cannot be removed does not count as gone", async () => {
  await using it = await homeWith({});
  await mkdir(join(it.home, "artifacts"), { recursive: true });
  await writeFile(join(it.home, "artifacts", "bb"), "in the way");
  await expect(it.files.removeArtifact("b".repeat(64), Date.now())).rejects.toMatchObject({ code: "ENOTDIR" });
});

const failing = (code: string) => async () => {
  throw Object.assign(new Error(`${code}: not now`), { code });
};

test("a workspace that the disk does not let go is told, after all others are gone, and one still in use is not", async () => {
  await using it = await homeWith({ a: 1, b: 1 });
  const { files } = it;
  for (const contextId of ["a", "b"]) files.detach({ kind: "agent", principal: "alice", contextId });
  const remove = disk.rm;
  using removing = spyOn(disk, "rm").mockImplementationOnce(failing("EBUSY"));
  await files.clear();
  removing.mockImplementationOnce(failing("EIO")).mockImplementation(remove);
  files.detach({ kind: "agent", principal: "alice", contextId: "b" });
  await expect(files.clear()).rejects.toMatchObject({ code: "unavailable", cause: { code: "EIO" } });
  await files.clear();
  expect(await readdir(join(it.home, "workspaces", ".leaving"))).toEqual([]);
});

test("a workspace that was opened meanwhile and cannot be put back is no silent loss", async () => {
  await using it = await homeWith({ a: 1 });
  const back = () => it.files.detachOld(it.nameOf("a"), Date.now() - 2 * hour);
  {
    using _ = spyOn(disk, "rename").mockImplementationOnce(failing("EIO"));
    await expect(back()).rejects.toMatchObject({ code: "EIO" });
  }
});

import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProtectedNames, guardedFiles } from "./guarded-names.ts";

let workspace: string;
const at = (...names: string[]) => join(workspace, ...names);

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), "manyhands-names-"));
});
afterEach(() => rm(workspace, { recursive: true }));

test("the guarded names are those present when the first sandbox starts, until the last has ended", async () => {
  const names = createProtectedNames();
  await mkdir(at(".vscode"));
  const first = await names.guard(workspace);
  expect(first.names).toEqual([...guardedFiles, ".vscode"]);
  await mkdir(at(".git", "hooks"), { recursive: true });
  const second = await names.guard(workspace);
  expect(second.argv).toEqual(first.argv);
  await first.release();
  expect((await names.guard(workspace)).names).toEqual(first.names);
  await second.release();
  await second.release();
  expect((await names.guard(workspace)).names).toEqual([...guardedFiles, ".git", ".git/hooks", ".vscode"]);
});

test("all are read-only except `.git`, of which only the name is guarded", async () => {
  await mkdir(at(".git", "hooks"), { recursive: true });
  const { argv } = await createProtectedNames().guard(workspace);
  const writable = argv.flatMap((word, index) => (word === "--bind" ? [argv[index + 1]] : []));
  expect(writable).toEqual([at(".git")]);
  expect(argv.indexOf(at(".git"))).toBeLessThan(argv.indexOf(at(".git", "hooks")));
});

test("a name replaced while sandboxes run is a mount point in none of them, and is left out from then on", async () => {
  const names = createProtectedNames();
  await mkdir(at(".git", "hooks"), { recursive: true });
  await writeFile(at(".envrc"), "");
  await names.guard(workspace);
  await rename(at(".git"), at("moved"));
  await mkdir(at(".git", "hooks"), { recursive: true });
  await rm(at(".envrc"));
  expect((await names.guard(workspace)).names).toEqual([...guardedFiles]);
  await rm(at(".git"), { recursive: true });
  await rename(at("moved"), at(".git"));
  expect((await names.guard(workspace)).names).toEqual([...guardedFiles]);
});

test("links are not guarded, nor anything below one", async () => {
  await mkdir(at("real", "hooks"), { recursive: true });
  await symlink("real", at(".git"));
  await symlink("nowhere", at(".bashrc"));
  const { names } = await createProtectedNames().guard(workspace);
  expect(names).toEqual(guardedFiles.filter((name) => name !== ".bashrc"));
});

test("names guarded only if they exist can be left out, once, and the rest stays", async () => {
  await mkdir(at(".idea"));
  const names = createProtectedNames();
  const guard = await names.guard(workspace);
  expect([guard.loosen(), guard.loosen()]).toEqual([true, false]);
  expect((await names.guard(workspace)).names).toEqual([...guardedFiles]);
});

test("placeholders are removed with the last sandbox, files with content stay", async () => {
  await writeFile(at(".bashrc"), "mine");
  const names = createProtectedNames();
  const guards = await Promise.all([names.guard(workspace), names.guard(workspace)]);
  expect((await readdir(workspace)).sort()).toEqual([...guardedFiles].sort());
  await guards[0]?.release();
  expect(await readdir(workspace)).toHaveLength(guardedFiles.length);
  await guards[1]?.release();
  expect(await readdir(workspace)).toEqual([".bashrc"]);
});

test("a placeholder that has content by now no longer counts as one, and stays", async () => {
  const guard = await createProtectedNames().guard(workspace);
  await rm(at(".profile"));
  await writeFile(at(".profile"), "the person's own");
  await guard.release();
  expect(await readdir(workspace)).toEqual([".profile"]);
});

test("a sandbox that starts while the last one leaves has its placeholders", async () => {
  const names = createProtectedNames();
  let guard = await names.guard(workspace);
  for (let turn = 0; turn < 50; turn++) {
    const left = guard.release();
    guard = await names.guard(workspace);
    await left;
    expect(guard.names).toEqual([...guardedFiles]);
    expect(await readdir(workspace)).toHaveLength(guardedFiles.length);
  }
});

test("a repository without permissions gets those of its owner back, and nothing behind a link does", async () => {
  await mkdir(at(".git", "hooks"), { recursive: true });
  await chmod(at(".git"), 0o000);
  await mkdir(at("other"));
  await chmod(at("other"), 0o500);
  await symlink("other", at(".vscode"));
  const { names } = await createProtectedNames().guard(workspace);
  expect(names).toContain(".git/hooks");
  expect((await stat(at(".git"))).mode & 0o777).toBe(0o700);
  expect((await stat(at("other"))).mode & 0o777).toBe(0o500);
});

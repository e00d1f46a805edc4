import { expect, test } from "bun:test";
import { mkdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { changedFiles, listFiles, removedFiles } from "./list-files.ts";

test("a listing has files in natural order, without our own, caches and the targets of symlinks", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await place.workspace.spill("x", "text");
  await mkdir(join(root, "sub/deep"), { recursive: true });
  await mkdir(join(root, "node_modules/m"), { recursive: true });
  for (const name of ["part-10.txt", "part-2.txt", "sub/deep/a.csv", "node_modules/m/i.js", ".gitignore"])
    await writeFile(join(root, name), "12345");
  await symlink("/etc", join(root, "etc"));
  await symlink("/etc/passwd", join(root, "passwd"));
  const { files, complete } = await listFiles(place.workspace);
  expect(files.map((file) => file.path)).toEqual([".gitignore", "part-2.txt", "part-10.txt", "sub/deep/a.csv"]);
  expect(files[1]?.size).toBe(5);
  expect(complete).toBe(true);
});

test("a listing says when it was cut short", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  await mkdir(join(root, "a/b/c"), { recursive: true });
  for (const name of ["1", "2", "3", "a/b/c/4"]) await writeFile(join(root, name), "");
  const few = await listFiles(place.workspace, { most: 2 });
  expect([few.files.length, few.complete]).toEqual([2, false]);
  const shallow = await listFiles(place.workspace, { depth: 2 });
  expect([shallow.files.length, shallow.complete]).toEqual([3, false]);
  expect((await listFiles(place.workspace, { most: 4 })).complete).toBe(true);
});

test("new, changed and removed files are distinguished from the rest", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  for (const name of ["same", "longer", "touched"]) await writeFile(join(root, name), "x");
  const before = await listFiles(place.workspace);
  await writeFile(join(root, "longer"), "xx");
  await utimes(join(root, "touched"), 1, 1);
  await writeFile(join(root, "new"), "");
  await rm(join(root, "same"));
  const after = await listFiles(place.workspace);
  expect(changedFiles(before, after)).toEqual(["longer", "new", "touched"]);
  expect(removedFiles(before, after)).toEqual(["same"]);
  const [file] = after.files;
  if (file === undefined) throw new Error("no file");
  const listing = (one: typeof file) => ({ files: [one], complete: true });
  for (const change of [{ size: file.size + 1 }, { modifiedAt: file.modifiedAt + 1 }])
    expect(changedFiles(listing(file), listing({ ...file, ...change }))).toEqual([file.path]);
  expect(changedFiles(listing(file), listing({ ...file }))).toEqual([]);
  expect(removedFiles(before, await listFiles(place.workspace, { most: 1 }))).toEqual([]);
});

test("our own files, caches and version history are left out wherever they are, and the folders a caller names", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  const own = [
    ".manyhands",
    ".git",
    ".bun",
    ".cache",
    ".config",
    ".local",
    ".npm",
    ".tmp",
    ".venv",
    "node_modules",
    "__pycache__",
  ];
  for (const folder of [...own, "kept", "build", "env/lib", ".pytest_cache/v", "target"]) {
    await mkdir(join(root, "sub", folder), { recursive: true });
    await writeFile(join(root, "sub", folder, "f"), "");
  }
  // A virtual environment has any name, as a cache has; what is built may be wanted.
  for (const mark of ["env/pyvenv.cfg", ".pytest_cache/CACHEDIR.TAG", "target/CACHEDIR.TAG"])
    await writeFile(join(root, "sub", mark), "");
  const paths = async (options = {}) => (await listFiles(place.workspace, options)).files.map(({ path }) => path);
  const built = ["sub/target/CACHEDIR.TAG", "sub/target/f"];
  expect(await paths()).toEqual(["sub/build/f", "sub/kept/f", ...built]);
  expect(await paths({ without: new Set(["build"]) })).toEqual(["sub/kept/f", ...built]);
});

test("files are listed twelve folders deep, and two thousand of them", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  const deep = Array.from({ length: 12 }, () => "d").join("/");
  await mkdir(join(root, deep), { recursive: true });
  await writeFile(join(root, deep, "f"), "");
  expect(await listFiles(place.workspace)).toMatchObject({ files: [{ path: `${deep}/f` }], complete: true });
  await mkdir(join(root, deep, "e"));
  expect((await listFiles(place.workspace)).complete).toBe(false);
  await rm(join(root, "d"), { recursive: true });
  await Promise.all(Array.from({ length: 2_000 }, (_, n) => writeFile(join(root, `${n}`), "")));
  expect(await listFiles(place.workspace)).toMatchObject({ complete: true });
  await writeFile(join(root, "one-more"), "");
  const { files, complete } = await listFiles(place.workspace);
  expect([files.length, complete]).toEqual([2_000, false]);
});

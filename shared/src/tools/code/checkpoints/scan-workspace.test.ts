import { expect, test } from "bun:test";
import { chmod, mkdir, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../core/text/sha256.ts";
import { keptContent } from "../../../machine/workspace/kept-content.ts";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { listWork, scanWorkspace } from "./scan-workspace.ts";

test("forty folders deep and beyond a thousand files a workspace is seen whole; below that it is said not to be", async () => {
  await using place = await workspaceForTest();
  const { root } = place.workspace;
  const deep = Array.from({ length: 40 }, () => "d").join("/");
  await mkdir(join(root, deep), { recursive: true });
  await writeFile(join(root, deep, "f"), "");
  await Promise.all(Array.from({ length: 1_001 }, (_, at) => writeFile(join(root, `${at}`), "")));
  const { files, complete } = await scanWorkspace(place.workspace, []);
  expect([files.length, complete]).toEqual([1_002, true]);
  await mkdir(join(root, deep, "e"));
  expect((await scanWorkspace(place.workspace, files)).complete).toBe(false);
});

test("a file is read again if its size or its time differs, and its permissions are as they are now", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const path = join(workspace.root, "a");
  const write = async (text: string, at: number) => {
    await writeFile(path, text);
    await utimes(path, at, at);
  };
  await write("one", 5);
  const first = (await scanWorkspace(workspace, [])).files;
  expect(first).toMatchObject([{ path: "a", sha256: sha256Of("one"), size: 3, modifiedAt: 5_000, executable: false }]);
  expect(await keptContent(workspace, sha256Of("one"))).toEqual(Buffer.from("one"));
  await write("longer", 5);
  expect((await scanWorkspace(workspace, first)).files[0]?.sha256).toBe(sha256Of("longer"));
  await write("two", 6);
  expect((await scanWorkspace(workspace, first)).files[0]?.sha256).toBe(sha256Of("two"));
  // Unless either differs it is not read.
  await write("six", 5);
  await chmod(path, 0o755);
  expect((await scanWorkspace(workspace, first)).files).toMatchObject([{ sha256: sha256Of("one"), executable: true }]);
});

test("what is derived, protected or above five megabytes is nobody's work to save", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const at = (path: string) => join(workspace.root, path);
  const derived = [".gradle", ".mypy_cache", ".next", ".pytest_cache", ".ruff_cache", ".tox", "target", "venv"];
  for (const folder of [...derived, "src"]) {
    await mkdir(at(folder));
    await writeFile(at(`${folder}/f`), "x");
  }
  await writeFile(at(".bashrc"), "x");
  for (const [name, size] of [
    ["fits", 5 * 1024 ** 2],
    ["large", 5 * 1024 ** 2 + 1],
  ] as const) {
    await writeFile(at(name), "");
    await truncate(at(name), size);
  }
  expect((await listWork(workspace)).files.map(({ path }) => path)).toEqual(["fits", "large", "src/f"]);
  const { files } = await scanWorkspace(workspace, []);
  expect(files.map(({ path }) => path)).toEqual(["fits", "src/f"]);
  expect((await stat(at("large"))).size).toBeGreaterThan(5 * 1024 ** 2);
});

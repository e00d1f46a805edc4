import { expect, test } from "bun:test";
import { chmod, readdir, rm, truncate, utimes } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../core/text/sha256.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { baselinesOf, recordBaseline, unchangedSinceBaseline } from "./baseline.ts";
import { keptContent } from "./kept-content.ts";
import { listFiles } from "./list-files.ts";
import { removeStale } from "./own-files/remove-stale.ts";

async function scene() {
  const place = await workspaceForTest();
  const { workspace } = place;
  const record = (root: string, files: Record<string, string>) =>
    recordBaseline(
      workspace,
      { root, files: Object.entries(files).map(([path, text]) => ({ path, sha256: sha256Of(text) })) },
      (path) => new Blob([files[path] ?? ""]),
    );
  return { ...place, record };
}

test("imports are in the order of their roots, each as it was last recorded, with its time", async () => {
  await using place = await scene();
  expect(await baselinesOf(place.workspace)).toEqual([]);
  const before = Date.now();
  for (const root of ["c", "a", "b", "e", "d"]) await place.record(root, { [root]: "old" });
  await place.record("a", { a: "new" });
  const found = await baselinesOf(place.workspace);
  expect(found.map(({ root }) => root)).toEqual(["a", "b", "c", "d", "e"]);
  expect(found[0]?.files).toEqual([{ path: "a", sha256: sha256Of("new") }]);
  for (const { arrivedAt } of found) expect(Math.abs(arrivedAt - before)).toBeLessThan(60_000);
  const [name = ""] = await readdir(join(place.workspace.metaRoot, "pristine"));
  await utimes(join(place.workspace.metaRoot, "pristine", name), 5, 5);
  expect((await baselinesOf(place.workspace)).filter(({ arrivedAt }) => arrivedAt === 5_000)).toHaveLength(1);
  await Bun.write(join(place.workspace.metaRoot, "pristine/half.json.1"), "half");
  expect(await baselinesOf(place.workspace)).toHaveLength(5);
});

test("content of up to 1 MB is kept, of a larger file the hash alone", async () => {
  await using place = await scene();
  const [fits, large] = ["x".repeat(2 ** 20), "x".repeat(2 ** 20 + 1)];
  await place.record("p", { "p/fits": fits, "p/large": large });
  expect((await keptContent(place.workspace, sha256Of(fits)))?.length).toBe(2 ** 20);
  expect(await keptContent(place.workspace, sha256Of(large))).toBeUndefined();
  expect((await baselinesOf(place.workspace))[0]?.files).toHaveLength(2);
});

test("a file is as it came if its content is, whatever its time", async () => {
  await using place = await scene();
  const { root } = place.workspace;
  const texts = { same: "same", other: "one", gone: "gone" };
  await place.record("p", texts);
  for (const [name, text] of Object.entries(texts)) await Bun.write(join(root, name), text);
  await utimes(join(root, "same"), 1, 1);
  await Bun.write(join(root, "other"), "two");
  await rm(join(root, "gone"));
  await Bun.write(join(root, "new"), "same");
  const isSame = await unchangedSinceBaseline(place.workspace);
  expect(await Promise.all(["same", "other", "gone", "new"].map(isSame))).toEqual([true, false, false, false]);
  expect(await isSame("never there")).toBe(false);
  // What is different may be at the very end.
  const long = "x".repeat(1_000_000);
  await place.record("q", { long });
  await Bun.write(join(root, "long"), `${long.slice(1)}y`);
  expect(await (await unchangedSinceBaseline(place.workspace))("long")).toBe(false);
});

test("a listed file has its size, the time of its content, and whether it may be executed", async () => {
  await using place = await scene();
  const path = join(place.workspace.root, "a.sh");
  await Bun.write(path, "");
  await truncate(path, 3);
  await utimes(path, 5, 5);
  const [file] = (await listFiles(place.workspace)).files;
  expect(file).toEqual({ path: "a.sh", size: 3, modifiedAt: 5_000, executable: false });
  await chmod(path, 0o744);
  expect((await listFiles(place.workspace)).files[0]?.executable).toBe(true);
  await chmod(path, 0o655);
  expect((await listFiles(place.workspace)).files[0]?.executable).toBe(false);
});

test("what is unchanged for more than a day is stale, a folder with its content too", async () => {
  await using place = await scene();
  const folder = join(place.home, "arriving");
  await removeStale(folder);
  const day = 24 * 60 * 60;
  for (const name of ["old/inside", "edge", "new"]) await Bun.write(join(folder, name), "x");
  const now = 2_000_000_000;
  for (const [name, at] of [
    ["old", now - day - 1],
    ["edge", now - day],
    ["new", now],
  ] as const)
    await utimes(join(folder, name), at, at);
  await removeStale(folder, { now: now * 1000 });
  expect((await readdir(folder)).sort()).toEqual(["edge", "new"]);
});

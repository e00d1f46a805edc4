import { afterAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentsOf, openPlace } from "./place.ts";

const folder = await mkdtemp(join(tmpdir(), "manyhands-place-"));
afterAll(() => rm(folder, { recursive: true }));

test("what is in a home is told without hidden names; one that is not there is empty, one that cannot be listed is not", async () => {
  const home = join(folder, "home");
  expect(await contentsOf(home)).toEqual([]);
  await mkdir(join(home, ".git"), { recursive: true });
  await mkdir(join(home, "lost+found"));
  await writeFile(join(home, "runs.db"), "");
  expect(await contentsOf(home)).toEqual(["runs.db"]);
  await expect(contentsOf(join(home, "runs.db"))).rejects.toThrow("ENOTDIR");
});

test("nothing is put where what is there cannot be listed, and it stays", async () => {
  const home = join(folder, "file");
  await writeFile(home, "mine");
  const { arriving, put } = await openPlace(home);
  await writeFile(join(arriving, "runs.db"), "");
  await expect(put()).rejects.toThrow("ENOTDIR");
  expect(await readFile(home, "utf8")).toBe("mine");
});

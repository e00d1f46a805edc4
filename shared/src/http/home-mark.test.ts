import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeMark } from "./home-mark.ts";

test("a home has one mark, by whatever path it is reached and whatever is in it, and no other home has it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-home-mark-"));
  const at = (name: string) => join(folder, name);
  await Promise.all([mkdir(at("one")), mkdir(at("other")), symlink(at("one"), at("link"))]);
  const mark = homeMark(at("one"));
  expect(mark).toMatch(/^[0-9a-f]{16}$/);
  await Bun.write(join(at("one"), "runs.db"), "");
  expect([homeMark(at("one")), homeMark(at("link"))]).toEqual([mark, mark]);
  expect(homeMark(at("other"))).not.toBe(mark as string);
  expect(homeMark(at("none"))).toBeUndefined();
  await rm(folder, { recursive: true });
});

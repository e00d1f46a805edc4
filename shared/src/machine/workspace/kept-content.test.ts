import { expect, test } from "bun:test";
import { readdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { keepContent, keepOnly, keptContent } from "./kept-content.ts";

const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

test("unreferenced content is removed, but not content stored since, new or again", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const folder = join(workspace.metaRoot, "content");
  const old = new Date(Date.now() - 60_000);
  for (const text of ["named", "unnamed", "once more"]) {
    await keepContent(workspace, hashOf(text), new TextEncoder().encode(text));
    await utimes(join(folder, hashOf(text)), old, old);
  }
  const began = Date.now() - 1_000;
  for (const text of ["once more", "new"]) await keepContent(workspace, hashOf(text), new TextEncoder().encode(text));
  await Bun.write(join(folder, ".half"), "half wri");
  await utimes(join(folder, ".half"), old, old);
  await keepOnly(workspace, new Set([hashOf("named")]), began);
  expect(await readdir(folder)).toHaveLength(3);
  for (const text of ["named", "once more", "new"])
    expect(new TextDecoder().decode(await keptContent(workspace, hashOf(text)))).toBe(text);
});

test("content is kept where nobody else looks, and one from that very moment stays", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const folder = join(workspace.metaRoot, "content");
  await keepContent(workspace, hashOf("a"), new TextEncoder().encode("a"));
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await utimes(join(folder, hashOf("a")), 5, 5);
  await keepOnly(workspace, new Set(), 5_000);
  expect(await readdir(folder)).toEqual([hashOf("a")]);
  await keepOnly(workspace, new Set(), 5_001);
  expect(await readdir(folder)).toEqual([]);
});

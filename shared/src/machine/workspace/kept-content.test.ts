import { expect, spyOn, test } from "bun:test";
import { mkdir, readdir, stat, utimes } from "node:fs/promises";
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

test("content that was damaged is none, and what cannot be read is no missing content", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const folder = join(workspace.metaRoot, "content");
  await keepContent(workspace, hashOf("a"), new TextEncoder().encode("a"));
  await Bun.write(join(folder, hashOf("a")), "b");
  expect(await keptContent(workspace, hashOf("a"))).toBeUndefined();
  expect(await keptContent(workspace, hashOf("none"))).toBeUndefined();
  await mkdir(join(folder, hashOf("folder")));
  await expect(keptContent(workspace, hashOf("folder"))).rejects.toMatchObject({ code: "EISDIR" });
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

test("content that could not be written whole is none, and is kept once it can be", async () => {
  await using place = await workspaceForTest();
  const { workspace } = place;
  const { write } = Bun;
  {
    using _ = spyOn(Bun, "write").mockImplementationOnce((async (path: string) => {
      await write(path, "ha");
      throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    }) as never);
    await expect(keepContent(workspace, hashOf("half"), new TextEncoder().encode("half"))).rejects.toThrow("no space");
  }
  expect(await keptContent(workspace, hashOf("half"))).toBeUndefined();
  await keepContent(workspace, hashOf("half"), new TextEncoder().encode("half"));
  expect(new TextDecoder().decode(await keptContent(workspace, hashOf("half")))).toBe("half");
});

import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtemp, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as listing from "./list-files.ts";
import { openWorkspace } from "./open-workspace.ts";
import { createReadWorkspaces } from "./read-workspace.ts";

const conversation = { kind: "swe", principal: "ann", contextId: "c" };
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "read-workspace-"));
});
afterAll(() => rm(home, { recursive: true }));

test("a conversation without a workspace has no files, and reading makes none", async () => {
  const workspaces = createReadWorkspaces(home);
  expect(await workspaces.list(conversation)).toEqual({ files: [], complete: true });
  await expect(workspaces.read(conversation, "a.txt")).rejects.toMatchObject({ code: "not_found" });
  expect(await readdir(home)).toEqual([]);
});

test("a file is read whole, and one that would fill the memory is refused with its bound", async () => {
  const { root } = await openWorkspace({ home, principal: "swe/ann", contextId: "c" });
  await writeFile(join(root, "a.txt"), "hello");
  await writeFile(join(root, "huge"), "");
  await truncate(join(root, "huge"), 64 * 1024 ** 2 + 1);
  const workspaces = createReadWorkspaces(home);
  expect(new TextDecoder().decode(await workspaces.read(conversation, "a.txt"))).toBe("hello");
  await expect(workspaces.read(conversation, "huge")).rejects.toMatchObject({
    code: "too_large",
    message: "The file huge has more than 64 MB.",
  });
  await truncate(join(root, "huge"), 64 * 1024 ** 2);
  expect((await workspaces.read(conversation, "huge")).length).toBe(64 * 1024 ** 2);
});

test("nothing outside a conversation's workspace is read, by dots or by a link", async () => {
  const { root } = await openWorkspace({ home, principal: "swe/ann", contextId: "c" });
  await writeFile(join(home, "secret"), "ours");
  await symlink(join(home, "secret"), join(root, "link"));
  const workspaces = createReadWorkspaces(home);
  for (const path of ["../../../secret", join(home, "secret"), "link", "no/../../../../secret"])
    await expect(workspaces.read(conversation, path)).rejects.toMatchObject({ code: "forbidden" });
});

test("placeholders are not listed; somebody's own files are, also under their names", async () => {
  const { root } = await openWorkspace({ home, principal: "swe/ann", contextId: "guarded" });
  for (const [name, text] of [
    [".bashrc", ""],
    [".mcp.json", "{}"],
    ["empty.txt", ""],
  ] as const)
    await writeFile(join(root, name), text);
  const { files } = await createReadWorkspaces(home, [".bashrc", ".mcp.json"]).list({
    ...conversation,
    contextId: "guarded",
  });
  expect(files.map(({ path }) => path)).toEqual([".mcp.json", "empty.txt"]);
});

test("a list that was cut short says so", async () => {
  await openWorkspace({ home, principal: "swe/ann", contextId: "c" });
  using _ = spyOn(listing, "listFiles").mockResolvedValue({ files: [], complete: false });
  expect(await createReadWorkspaces(home).list(conversation)).toEqual({ files: [], complete: false });
});

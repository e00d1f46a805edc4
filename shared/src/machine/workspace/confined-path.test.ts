import { expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { confinedPath } from "./confined-path.ts";

async function setUp() {
  const place = await workspaceForTest();
  const { root } = place.workspace;
  await mkdir(join(root, "src"));
  await writeFile(join(root, "src/a.txt"), "a");
  await symlink("src", join(root, "inner"));
  await symlink("/etc", join(root, "etc"));
  await symlink("/etc/passwd", join(root, "passwd"));
  await symlink(join(place.home, "not-there"), join(root, "dangling"));
  await symlink("round", join(root, "round"));
  return { root, home: place.home, [Symbol.asyncDispose]: () => place[Symbol.asyncDispose]() };
}

test("inside paths are resolved: relative, absolute, through inner symlinks, or not existing yet", async () => {
  await using place = await setUp();
  const { root } = place;
  const cases = {
    "": "",
    ".": "",
    "src/a.txt": "src/a.txt",
    [join(root, "src/a.txt")]: "src/a.txt",
    "src/../src//a.txt": "src/a.txt",
    "inner/a.txt": "src/a.txt",
    "inner/new/b.txt": "src/new/b.txt",
    "new/deep/c.txt": "new/deep/c.txt",
    "src/a.txt/under-a-file": "src/a.txt/under-a-file",
    "..name/...": "..name/...",
  };
  for (const [path, inside] of Object.entries(cases)) expect(await confinedPath(root, path)).toBe(join(root, inside));
});

test("outside paths are refused: by dots, absolute, or through a symlink, dangling and circular ones too", async () => {
  await using place = await setUp();
  const { root, home } = place;
  const outside = [
    "..",
    "../x",
    "src/../../x",
    "/etc/passwd",
    "/",
    `${root}x`,
    home,
    join(root, ".."),
    "etc",
    "etc/new",
    "passwd",
  ];
  for (const path of [...outside, "dangling", "dangling/x", "round", "round/x"])
    await expect(confinedPath(root, path), path).rejects.toMatchObject({ code: "forbidden" });
});

test("invalid file names are refused", async () => {
  await using place = await setUp();
  for (const path of ["a\0b", "a\nb", "a\u001b[31mb", "n".repeat(256), "é".repeat(128), "d/".repeat(3000)])
    await expect(confinedPath(place.root, path)).rejects.toMatchObject({ code: "invalid_input" });
  for (const path of ["n".repeat(255), `d/${"é".repeat(127)}e`])
    expect(await confinedPath(place.root, path)).toBe(join(place.root, path));
});

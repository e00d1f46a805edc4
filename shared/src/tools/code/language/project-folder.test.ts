import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { projectFolder } from "./project-folder.ts";

async function workspaceWith(files: Readonly<Record<string, string>>) {
  const place = await workspaceForTest();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(place.workspace.root, path)), { recursive: true });
    await writeFile(join(place.workspace.root, path), text);
  }
  return place;
}

test.each([
  [["package.json", "app/package.json", "app/src/a.ts"], "app/src/a.ts", "app"],
  [["app/tsconfig.json", "app/src/x/go.mod", "app/src/a.ts"], "app/src/a.ts", "app"],
  [["app/.git/HEAD", "app/src/a.ts"], "app/src/a.ts", "app"],
  [["Cargo.toml", "app/src/a.ts"], "app/src/a.ts", "."],
  [["app/src/a.ts"], "app/src/a.ts", "app"],
  [["app/src/package.json.txt", "app/src/a.ts"], "app/src/a.ts", "app"],
  [["app/src/setup.py", "app/src/a.ts"], "app/src/a.ts", "app/src"],
  [["a.ts"], "a.ts", "."],
])("with %j the project of %s is %s", async (files, path, folder) => {
  await using place = await workspaceWith(Object.fromEntries(files.map((name) => [name, ""])));
  expect(await projectFolder(place.workspace, path)).toBe(folder);
});

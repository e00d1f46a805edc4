import { expect, test } from "bun:test";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { workspaceForTest } from "../../testing/workspace.ts";
import { saveDownload } from "./save-download.ts";

test("a link that stands where a download should be is not followed, and downloads of one name do not meet", async () => {
  await using place = await workspaceForTest();
  const { home, workspace } = place;
  const [secret, link, file] = ["secret", "link", "file"].map((name) => join(home, name)) as [string, string, string];
  await writeFile(secret, "the key");
  await symlink(secret, link);
  await writeFile(file, "a table");
  expect(saveDownload(workspace, "table.csv", link)).rejects.toThrow();
  expect(await readdir(workspace.root)).not.toContain("downloads");
  expect(await saveDownload(workspace, "table.csv", file)).toBe("downloads/table.csv");
  expect(await saveDownload(workspace, "../table.csv", file)).toBe("downloads/table-2.csv");
  expect(await readFile(join(workspace.root, "downloads/table-2.csv"), "utf8")).toBe("a table");
});

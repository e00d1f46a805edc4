import { expect, test } from "bun:test";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { downloadName, numbered, saveDownload } from "./save-download.ts";

test("a link in a download's place is not followed, and downloads with one name do not collide", async () => {
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

test("the name is the last part of a path, without leading dots", () => {
  expect(downloadName("../../x")).toBe("x");
  expect(downloadName("/etc/passwd")).toBe("passwd");
  expect(downloadName("C:\\Windows\\system.ini")).toBe("system.ini");
  expect(downloadName(".bashrc")).toBe("bashrc");
  expect(downloadName("..")).toBe("download");
  expect(downloadName("Übersicht 2026.tar.gz")).toBe("Übersicht 2026.tar.gz");
  expect(downloadName("invoice\u202egpj.exe")).toBe("invoice_gpj.exe");
});

test("a number is inserted before the extension", () => {
  expect(numbered("report.csv", 2)).toBe("report-2.csv");
  expect(numbered("data.tar.gz", 3)).toBe("data-3.tar.gz");
  expect(numbered("README", 2)).toBe("README-2");
});

test("whatever is suggested, the name is a single, short one without control characters", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 500 }), (suggested) => {
      const name = downloadName(suggested);
      expect(name).not.toMatch(/[/\\\p{C}]|^\.|^$/u);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    }),
  );
});

import { expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cliForTest } from "../../testing/cli.ts";

test("a skill is added, shown, approved, found changed, and removed", async () => {
  await using cli = await cliForTest({});
  await mkdir(join(cli.cwd, "weekly"));
  const text = "---\nname: weekly\ndescription: Weekly figures.\n---\nCount them.\x1b[2J\n";
  await writeFile(join(cli.cwd, "weekly/SKILL.md"), text);
  expect(await cli.run("skills", "add", "weekly")).toBe(0);
  expect(await cli.run("skills", "list")).toBe(0);
  expect(cli.out()).toMatch(/weekly +new +Weekly figures\./);
  expect(cli.out()).toMatch(/docx-report +shipped /);
  expect(await cli.run("skills", "show", "weekly")).toBe(0);
  expect(cli.out()).toContain("Count them.");
  expect(cli.out()).not.toContain("\x1b[2J");
  const [, hash = ""] = /approve weekly --hash ([\da-f]{64})/.exec(cli.said()) ?? [];

  const file = join(cli.cwd, ".manyhands/skills/weekly/SKILL.md");
  await writeFile(file, text.replace("Count", "Steal"));
  expect(await cli.run("skills", "approve", "weekly", "--hash", hash)).not.toBe(0);
  expect(cli.said()).toContain("is not what you saw");
  await writeFile(file, text);
  expect(await cli.run("skills", "approve", "weekly", "--hash", hash)).toBe(0);
  await writeFile(file, text.replace("Count", "Steal"));
  const before = cli.said().length;
  expect(await cli.run("skills", "list")).toBe(0);
  expect(cli.said().slice(before)).toContain("Agents don't use what is new or changed.");
  expect(await cli.run("skills", "list", "--json")).toBe(0);
  expect(cli.out()).toContain('"state": "changed"');
  expect(await cli.run("skills", "remove", "weekly")).toBe(0);
  expect(await cli.run("skills", "remove", "docx-report")).not.toBe(0);
}, 60_000);

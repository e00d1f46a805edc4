import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cliForTest } from "../../testing/cli.ts";

test("what is remembered is added, listed, shown, changed and removed, from the disk too", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_MEMORY_PRINCIPALS: "local" } });
  expect(await cli.run("memory", "add", "Reports", "go", "to", "Zoë.\x1b[2J", "--kind", "preference")).toBe(0);
  const [, id = ""] = /Remembered as ([\da-f]{8})\./.exec(cli.said()) ?? [];
  expect(await cli.run("memory")).toBe(0);
  expect(cli.out()).toMatch(new RegExp(`${id} +preference +Reports go to Zoë\\.`));
  expect(cli.out()).not.toContain("\x1b[2J");
  expect(await cli.run("memory", "list", "--find", "nothing of it")).toBe(0);
  expect(cli.said()).toContain("Nothing is remembered.");
  expect(await cli.run("memory", "edit", id, "--public")).toBe(0);
  expect(await cli.run("memory", "show", id)).toBe(0);
  expect(cli.out()).toContain("Public: yes");
  expect(await cli.run("memory", "edit", id, "Reports go to Max.", "--no-public")).toBe(0);
  expect(await cli.run("memory", "edit", id)).not.toBe(0);
  expect(await cli.run("memory", "list", "--json")).toBe(0);
  expect(cli.out()).toContain('"text": "Reports go to Max."');
  const file = () => readFile(join(cli.cwd, ".manyhands/memory.db"), "latin1");
  expect(await file()).not.toContain("Zo");
  expect(await cli.run("memory", "remove", id, "--principal", "bob")).not.toBe(0);
  expect(await cli.run("memory", "remove", id)).toBe(0);
  expect(await file()).not.toContain("Max");
  expect(await cli.run("memory", "clear")).not.toBe(0);
  expect(cli.said()).toContain("--yes");
  expect(await cli.run("memory", "clear", "--yes")).toBe(0);
}, 60_000);

test("adding for somebody without a memory says that agents use none", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("memory", "add", "Tea.")).toBe(0);
  expect(cli.said()).toContain("[memory] principals does not name it");
});

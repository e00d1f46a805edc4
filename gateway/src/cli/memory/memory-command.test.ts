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

test("each principal's memory is its own: what is done to one's leaves another's alone", async () => {
  await using cli = await cliForTest({ env: { MANYHANDS_MEMORY_PRINCIPALS: "ann" } });
  const ids: string[] = [];
  const said: boolean[] = [];
  for (const principal of ["local", "ann"]) {
    const before = cli.said().length;
    expect(await cli.run("memory", "add", `Tea of ${principal}.`, "--principal", principal, "--json")).toBe(0);
    said.push(cli.said().slice(before).includes("Agents use no memory for"));
    ids.push(JSON.parse(cli.out().trim().split("\n").at(-1) ?? "").id);
  }
  const [, id = ""] = ids;
  expect([ids.length, said]).toEqual([2, [true, false]]);
  type Entry = { readonly text: string; readonly by: string; readonly public: boolean };
  const of = async (principal: string, ...find: string[]) => {
    const before = cli.out().length;
    expect(await cli.run("memory", "list", "--principal", principal, "--json", ...find)).toBe(0);
    const entries = JSON.parse(cli.out().slice(before)) as Entry[];
    return entries.map(({ text, by, public: isPublic }) => [text, by, isPublic]);
  };
  expect(await of("ann", "--find", "tea")).toEqual([["Tea of ann.", "person", false]]);
  for (const act of [["show"], ["edit", "--public"], ["remove"]])
    expect([act, await cli.run("memory", act[0] ?? "", id, ...act.slice(1))]).toEqual([act, 1]);
  expect(await cli.run("memory", "edit", id, "Coffee.", "--principal", "ann")).toBe(0);
  expect(await of("ann")).toEqual([["Coffee.", "person", false]]);
  expect(await cli.run("memory", "clear", "--principal", "ann", "--yes")).toBe(0);
  expect([await of("ann"), await of("local")]).toEqual([[], [["Tea of local.", "person", false]]]);
}, 60_000);

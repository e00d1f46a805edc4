import { expect, spyOn, test } from "bun:test";
import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardedFiles, letOwnerIn, placeholdersAmong } from "./guarded-names.ts";

async function folderForTest() {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-guarded-"));
  const mode = async (name: string) => (await stat(join(folder, name))).mode & 0o7777;
  return { folder, mode, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

test("what shells and other agents would read is guarded", () => {
  expect(guardedFiles).toEqual([".bashrc", ".bash_profile", ".profile", ".mcp.json"]);
});

test("the owner may enter a folder again, whose other permissions stay; a link is not followed, and a file not touched", async () => {
  await using place = await folderForTest();
  const at = (name: string) => join(place.folder, name);
  for (const [name, mode] of [
    ["closed", 0o2055],
    ["half", 0o1500],
    ["open", 0o711],
    ["behind", 0o500],
  ] as const) {
    await mkdir(at(name));
    await chmod(at(name), mode);
  }
  await symlink(at("behind"), at("link"));
  await writeFile(at("file"), "", { mode: 0o400 });
  for (const name of ["closed", "half", "open", "link", "file"]) await letOwnerIn(at(name));
  const modes = { closed: 0o2755, half: 0o1700, open: 0o711, behind: 0o500, file: 0o400 };
  for (const [name, mode] of Object.entries(modes)) expect([name, await place.mode(name)]).toEqual([name, mode]);
  await expect(letOwnerIn(at("missing"))).rejects.toMatchObject({ code: "ENOENT" });
});

test.if(process.getuid?.() === 0)("a folder of somebody else is changed by root alone", async () => {
  await using place = await folderForTest();
  const folder = join(place.folder, "theirs");
  await mkdir(folder);
  await chmod(folder, 0o500);
  await chown(folder, 4242, 4242);
  {
    using _ = spyOn(process, "getuid").mockReturnValue(1000);
    await letOwnerIn(folder);
    expect(await place.mode("theirs")).toBe(0o500);
  }
  {
    using _ = spyOn(process, "getuid").mockReturnValue(4242);
    await letOwnerIn(folder);
    expect(await place.mode("theirs")).toBe(0o700);
  }
  await chmod(folder, 0o500);
  await letOwnerIn(folder);
  expect(await place.mode("theirs")).toBe(0o700);
});

test("guarded names without content are placeholders, or were a moment ago; what has content or another name is not", async () => {
  await using place = await folderForTest();
  const at = (name: string) => join(place.folder, name);
  await writeFile(at(".bashrc"), "");
  await writeFile(at(".profile"), "own");
  await writeFile(at("empty"), "");
  const asked = [".bashrc", ".profile", ".mcp.json", "empty", "sub/.bashrc"];
  expect(await placeholdersAmong(place.folder, asked)).toEqual(new Set([".bashrc", ".mcp.json"]));
});

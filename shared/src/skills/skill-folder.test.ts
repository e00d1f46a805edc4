import { afterEach, beforeEach, expect, test } from "bun:test";
import { chown, link, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readSkillFolder } from "./skill-folder.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "manyhands-skill-"));
});
afterEach(() => rm(root, { recursive: true }));

const skillMd = "---\nname: kit\ndescription: x\n---\nDo it.";
async function kit(files: Readonly<Record<string, string>>, name = "kit"): Promise<void> {
  for (const [path, content] of Object.entries({ "SKILL.md": skillMd, ...files })) {
    const target = join(root, name, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
}
const read = () => readSkillFolder(root, "kit");
/** The hash of the skill with these files alone. */
async function hashWith(files: Readonly<Record<string, string>>): Promise<string> {
  await rm(join(root, "kit"), { recursive: true, force: true });
  await kit(files);
  return (await read()).hash;
}

test("a skill is all files of its folder, with their paths, but not what Python left there", async () => {
  await kit({ "scripts/a.py": "1", "scripts/__pycache__/a.pyc": "2", "data/x y.csv": "", "a/b/c/d/e.txt": "3" });
  const { files, name, instructions } = await read();
  expect([name, instructions]).toEqual(["kit", "Do it."]);
  const shown = files.map(({ path, content }) => [path, Buffer.from(content).toString()]);
  expect(Object.fromEntries(shown)).toEqual({
    "SKILL.md": skillMd,
    "scripts/a.py": "1",
    "data/x y.csv": "",
    "a/b/c/d/e.txt": "3",
  });
});

test("only a folder that Python leaves is left out, and the folder of all skills may be behind a link", async () => {
  await kit({ __pycache__: "a file of the skill" });
  await symlink(root, `${root}-link`);
  const { files } = await readSkillFolder(`${root}-link`, "kit").finally(() => rm(`${root}-link`));
  expect(files.map(({ path }) => path).toSorted()).toEqual(["SKILL.md", "__pycache__"]);
});

// Whoever can write to a folder can link a file there that it may not read; only root gives files
// away.
test.skipIf(process.getuid?.() !== 0)("a file of somebody else that is linked into a skill is refused", async () => {
  await kit({});
  await writeFile(join(root, "theirs"), "secret");
  await chown(join(root, "theirs"), 12_345, 12_345);
  await link(join(root, "theirs"), join(root, "kit", "theirs"));
  await expect(read()).rejects.toMatchObject({ code: "forbidden" });
});

test("its hash is of every path and content, in no order", async () => {
  const files = { "a.txt": "1", "b.txt": "2" };
  const hash = await hashWith(files);
  expect(await hashWith({ "b.txt": "2", "a.txt": "1" })).toBe(hash);
  const others = [
    { "a.txt": "2", "b.txt": "1" },
    { "a.txt": "12", "b.txt": "" },
    { "a.txt": "1", "b.txt": "2", "c.txt": "" },
    { "a.txt": "1" },
    { "a.txt": "1", "x/b.txt": "2" },
    { "a.txt": "1", "B.txt": "2" },
    { ...files, "SKILL.md": `${skillMd} ` },
  ];
  const hashes = new Set([hash]);
  for (const other of others) hashes.add(await hashWith(other));
  expect(hashes.size).toBe(others.length + 1);
});

test.each([
  ["a hidden file", { ".env": "x" }, 'The name ".env" cannot be in a skill.'],
  ["a hidden folder", { "x/.git/config": "x" }, 'The name "x/.git" cannot be in a skill.'],
  ["a name for a terminal", { "a\u001b[2J": "x" }, "cannot be in a skill"],
  ["a name that begins like an option", { "-rf": "x" }, "cannot be in a skill"],
  ["a long name", { ["a".repeat(101)]: "x" }, "cannot be in a skill"],
  ["deep folders", { "a/b/c/d/e/f.txt": "x" }, "a/b/c/d/e is deeper than 4 folders."],
  ["a long text", { "SKILL.md": `${skillMd}${"x".repeat(64 * 1024)}` }, "Its SKILL.md has more than 64 KB."],
  ["more than 5 MB", { a: "x".repeat(3 * 1024 ** 2), b: "x".repeat(2 * 1024 ** 2) }, "It has more than 5 MB"],
  ["another skill's name", { "SKILL.md": skillMd.replace("kit", "kat") }, "It is called kat"],
] as const)("a folder with %s is refused", async (_, files, why) => {
  await kit(files);
  await expect(read()).rejects.toMatchObject({ code: "invalid_input", message: expect.stringContaining(why) });
});

test("a folder as large as a skill may be is read, with one file more it is not", async () => {
  const text = Buffer.byteLength(skillMd);
  await kit({ [`${"a".repeat(100)}`]: "", big: "x".repeat(5 * 1024 ** 2 - text) });
  for (let n = 3; n < 200; n++) await writeFile(join(root, "kit", `f${n}`), "");
  expect((await read()).files).toHaveLength(200);
  await writeFile(join(root, "kit", "one-more"), "");
  await expect(read()).rejects.toThrow("It has more than 200 files.");
});

test("links in a skill are refused, and what is not there is told", async () => {
  await expect(read()).rejects.toMatchObject({ code: "not_found", message: 'There is no skill "kit".' });
  await expect(readSkillFolder(join(root, "none"), "kit")).rejects.toMatchObject({ code: "not_found" });
  await mkdir(join(root, "kit"));
  await expect(read()).rejects.toMatchObject({ code: "invalid_input", message: "It has no SKILL.md." });
  await kit({});
  await symlink("/etc/passwd", join(root, "kit", "passwd"));
  await expect(read()).rejects.toThrow("passwd is neither a file nor a folder");
});

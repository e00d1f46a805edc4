import { afterAll, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsFile } from "./settings-file.ts";

const root = mkdtempSync(join(tmpdir(), "manyhands-settings-file-"));
afterAll(() => rm(root, { recursive: true }));

let count = 0;
async function place(text?: string) {
  const cwd = join(root, String(++count));
  await mkdir(cwd);
  const path = join(cwd, "manyhands.toml");
  if (text !== undefined) await writeFile(path, text, { mode: 0o644 });
  return { cwd, path, file: settingsFile({ cwd, file: undefined, env: {} }) };
}

test("a change is written whole, readable only by the owner, and made if there was no file", async () => {
  const { cwd, path, file } = await place();
  expect((await file.read()).file).toBeUndefined();
  await file.change(() => 'home = "elsewhere"\n');
  expect(await readFile(path, "utf8")).toBe('home = "elsewhere"\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await file.read()).sections.home).toBe("elsewhere");
  expect(await readdir(cwd)).toEqual(["manyhands.toml"]);
});

test("a text with which no server would start is not written, and the error names the file and line", async () => {
  const before = "# Mine.\n[gateway]\nport = 4100\n";
  const { cwd, path, file } = await place(before);
  const refused = (text: string) => file.change(() => text).catch((error: Error) => error.message);
  expect(await refused("[gateway]\nprot = 1\n")).toContain(`${path}, line 2`);
  expect(await refused("[gateway\n")).toContain(`${path}, line 1`);
  expect(await refused('[flows.x]\nentry = "./missing.ts"\n')).toContain("missing.ts");
  expect(await readFile(path, "utf8")).toBe(before);
  expect(await readdir(cwd)).toEqual(["manyhands.toml"]);
});

test("what changes nothing is not written, whatever the file says and however open it is", async () => {
  const { path, file } = await place("[gateway]\nprot = 1\n");
  await file.change((text) => text);
  expect((await stat(path)).mode & 0o777).toBe(0o644);
});

test("changes made at the same time all count", async () => {
  const { path, file } = await place("");
  const add = (n: number) => file.change((text) => `${text}# ${n}\n`);
  await Promise.all([add(1), add(2), add(3), add(4)]);
  expect((await readFile(path, "utf8")).split("\n").filter(Boolean).toSorted()).toEqual(["# 1", "# 2", "# 3", "# 4"]);
});

test("of a link the file behind it changes", async () => {
  const { cwd, path, file } = await place();
  await writeFile(join(cwd, "real.toml"), "");
  await symlink(join(cwd, "real.toml"), path);
  await file.change(() => 'home = "x"\n');
  expect(await readFile(join(cwd, "real.toml"), "utf8")).toBe('home = "x"\n');
});

test("a file that cannot be written is a conflict that says so", async () => {
  const cwd = join(root, "flat");
  await writeFile(cwd, "");
  const file = settingsFile({ cwd: root, file: join(cwd, "manyhands.toml"), env: {} });
  expect(file.change(() => 'home = "x"\n')).rejects.toMatchObject({ code: "conflict" });
});

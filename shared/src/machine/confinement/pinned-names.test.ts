import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardedFiles } from "../sandbox/guarded-names.ts";
import { pinNames, unpinNames } from "./pinned-names.ts";

let folder: string;
let workspace: string;
const at = (...names: string[]) => join(workspace, ...names);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-names-"));
  workspace = join(folder, "files");
  await mkdir(workspace);
});
afterEach(() => rm(folder, { recursive: true }));

const script = join(import.meta.dir, "../../testing/sandbox/pins-process.ts");

/** Another server that has pinned the names of the workspace. */
async function otherServer() {
  const child = Bun.spawn([process.execPath, script, workspace], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  return {
    names: JSON.parse(Buffer.from(value ?? []).toString()),
    async leave() {
      child.stdin.end();
      await child.exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

test("the guarded names are those present when the first sandbox starts, until the last has ended", async () => {
  await mkdir(at(".vscode"));
  const first = await pinNames(workspace);
  expect(first.names).toEqual([...guardedFiles, ".vscode"]);
  await mkdir(at(".git", "hooks"), { recursive: true });
  const second = await pinNames(workspace);
  expect(second.argv).toEqual(first.argv);
  await first.release();
  const third = await pinNames(workspace);
  expect(third.names).toEqual(first.names);
  await second.release();
  await third.release();
  expect((await pinNames(workspace)).names).toEqual([...guardedFiles, ".git", ".git/hooks", ".vscode"]);
});

test("all are read-only except `.git`, of which only the name is guarded", async () => {
  await mkdir(at(".git", "hooks"), { recursive: true });
  const { argv } = await pinNames(workspace);
  const writable = argv.flatMap((word, index) => (word === "--bind" ? [argv[index + 1]] : []));
  expect(writable).toEqual([at(".git")]);
  expect(argv.indexOf(at(".git"))).toBeLessThan(argv.indexOf(at(".git", "hooks")));
});

test("a name replaced while sandboxes run is a mount point in none of them, and is left out from then on", async () => {
  await mkdir(at(".git", "hooks"), { recursive: true });
  await writeFile(at(".envrc"), "");
  const first = await pinNames(workspace);
  await rename(at(".git"), at("moved"));
  await mkdir(at(".git", "hooks"), { recursive: true });
  await rm(at(".envrc"));
  expect((await pinNames(workspace)).names).toEqual([...guardedFiles]);
  await rm(at(".git"), { recursive: true });
  await rename(at("moved"), at(".git"));
  expect((await pinNames(workspace)).names).toEqual([...guardedFiles]);
  await first.release();
});

test("links are not guarded, nor anything below one", async () => {
  await mkdir(at("real", "hooks"), { recursive: true });
  await symlink("real", at(".git"));
  await symlink("nowhere", at(".bashrc"));
  const { names } = await pinNames(workspace);
  expect(names).toEqual(guardedFiles.filter((name) => name !== ".bashrc"));
});

test("names guarded only if they exist can be left out, once, and the rest stays", async () => {
  await mkdir(at(".idea"));
  const pins = await pinNames(workspace);
  expect([pins.loosen(), pins.loosen()]).toEqual([true, false]);
  expect((await pinNames(workspace)).names).toEqual([...guardedFiles]);
});

test("placeholders are removed with the last sandbox, files with content stay", async () => {
  await writeFile(at(".bashrc"), "mine");
  const both = await Promise.all([pinNames(workspace), pinNames(workspace)]);
  expect((await readdir(workspace)).sort()).toEqual([...guardedFiles].sort());
  await both[0]?.release();
  expect(await readdir(workspace)).toHaveLength(guardedFiles.length);
  await both[1]?.release();
  expect(await readdir(workspace)).toEqual([".bashrc"]);
});

test("an empty file of the person's own is no placeholder, and stays", async () => {
  await writeFile(at(".profile"), "", { mode: 0o644 });
  const pins = await pinNames(workspace);
  expect(pins.names).toContain(".profile");
  await pins.release();
  expect(await readdir(workspace)).toEqual([".profile"]);
});

test("settings of editors, agents and this system are guarded wherever they are", async () => {
  const names = ["mcp.json", "manyhands.toml", ".envrc", ".vscode", ".idea", ".claude"];
  for (const name of names) await mkdir(at(name));
  const pins = await pinNames(workspace);
  expect(pins.names.filter((name) => names.includes(name)).toSorted()).toEqual(names.toSorted());
  await pins.release();
});

test("names that cannot be noted in a file of ours are no reason to go without them", async () => {
  const pins = `${workspace}.pins`;
  const refused = {
    code: "sandbox_unavailable",
    message: expect.stringContaining("the names to guard cannot be noted"),
  };
  await writeFile(join(folder, "elsewhere"), "");
  await symlink("elsewhere", pins);
  await expect(pinNames(workspace)).rejects.toMatchObject(refused);
  expect(readFileSync(join(folder, "elsewhere"), "utf8")).toBe("");
  rmSync(pins);
  await mkdir(pins);
  await expect(pinNames(workspace)).rejects.toMatchObject(refused);
  expect(await readdir(workspace)).toEqual([]);
});

test("a placeholder that has content by now no longer counts as one, and stays", async () => {
  const pins = await pinNames(workspace);
  await rm(at(".profile"));
  await writeFile(at(".profile"), "the person's own");
  await pins.release();
  expect(await readdir(workspace)).toEqual([".profile"]);
});

test("a sandbox that starts while the last one leaves has its placeholders", async () => {
  let pins = await pinNames(workspace);
  for (let turn = 0; turn < 50; turn++) {
    const left = pins.release();
    pins = await pinNames(workspace);
    await left;
    expect(pins.names).toEqual([...guardedFiles]);
    expect(await readdir(workspace)).toHaveLength(guardedFiles.length);
  }
});

test("what a resting sandbox left is not removed by one that holds a file which others have replaced", async () => {
  const pins = `${workspace}.pins`;
  (await pinNames(workspace)).leave();
  const removal = unpinNames(workspace);
  // Long enough for the removal to have opened the file; nothing else of it runs meanwhile.
  Bun.sleepSync(50);
  const chosen = readFileSync(pins);
  rmSync(pins);
  writeFileSync(pins, chosen);
  await removal;
  expect([existsSync(pins), (await readdir(workspace)).length]).toEqual([true, guardedFiles.length]);
  await unpinNames(workspace);
  expect([existsSync(pins), await readdir(workspace)]).toEqual([false, []]);
});

test("a repository without permissions gets those of its owner back, and nothing behind a link does", async () => {
  await mkdir(at(".git", "hooks"), { recursive: true });
  await chmod(at(".git"), 0o000);
  await mkdir(at("other"));
  await chmod(at("other"), 0o500);
  await symlink("other", at(".vscode"));
  const { names } = await pinNames(workspace);
  expect(names).toContain(".git/hooks");
  expect((await stat(at(".git"))).mode & 0o777).toBe(0o700);
  expect((await stat(at("other"))).mode & 0o777).toBe(0o500);
});

test("servers that share a workspace pin the same names, and the last one to leave removes the placeholders", async () => {
  const other = await otherServer();
  expect(other.names).toEqual([...guardedFiles]);
  await mkdir(at(".git", "hooks"), { recursive: true });
  const own = await pinNames(workspace);
  expect(own.names).toEqual([...guardedFiles]);
  await own.release();
  expect((await readdir(workspace)).sort()).toEqual([...guardedFiles, ".git"].sort());
  await other.leave();
  expect(await readdir(workspace)).toEqual([".git"]);
  expect(await readdir(folder)).toEqual(["files"]);
});

test("a name that one server drops is dropped by the others", async () => {
  await mkdir(at(".idea"));
  const own = await pinNames(workspace);
  const other = await otherServer();
  expect(other.names).toContain(".idea");
  own.loosen();
  await other.leave();
  const next = await otherServer();
  expect(next.names).toEqual([...guardedFiles]);
  await next.leave();
});

test("names are chosen anew after the server that had them was killed", async () => {
  const other = await otherServer();
  await mkdir(at(".git", "hooks"), { recursive: true });
  await other.kill();
  const own = await pinNames(workspace);
  expect(own.names).toEqual([...guardedFiles, ".git", ".git/hooks"]);
  await own.release();
  expect(await readdir(workspace)).toEqual([".git"]);
});

test("servers that start and end sandboxes at the same time never leave one without its placeholders", async () => {
  const other = Bun.spawn([process.execPath, script, workspace, "50"], { stdout: "ignore", stderr: "inherit" });
  for (let turn = 0; turn < 50; turn++) {
    const { names, release } = await pinNames(workspace);
    expect(names).toEqual([...guardedFiles]);
    expect(await readdir(workspace)).toHaveLength(guardedFiles.length);
    await release();
  }
  expect(await other.exited).toBe(0);
  expect(await readdir(workspace)).toEqual([]);
});

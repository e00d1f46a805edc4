import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packFolder } from "../../gateway/src/cli/runs/pack-folder.ts";

/** Folders as somebody got them from a stranger, for `--file`, beside what is nobody's business. */
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-sent-"));
  await Bun.write(join(home, "private/key"), "SECRET");
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const me = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const child = Bun.spawn(["git", ...me, ...args], { cwd: folder, stdin: "ignore", stderr: "ignore" });
  const output = await child.stdout.text();
  expect(await child.exited).toBe(0);
  return output.trim();
}

async function checkout(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(home, name);
  await mkdir(folder);
  for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
  await git(folder, "init", "-q");
  await git(folder, "add", ".");
  return folder;
}

/** What is sent of a folder besides git's own files. */
async function sent(folder: string): Promise<string[]> {
  const { bytes } = await packFolder(folder);
  const listed = Bun.spawnSync(["tar", "-tz"], { stdin: bytes }).stdout.toString().trim().split("\n");
  return listed.filter((path) => !path.includes("/.git/"));
}

test("an index that names files outside of its checkout sends none of them", async () => {
  const folder = await checkout("named", { "a.txt": "a", "bb-private-key": "b" });
  const index = join(folder, ".git/index");
  const bytes = Buffer.from(await Bun.file(index).bytes());
  bytes.write("../private/key", bytes.indexOf("bb-private-key"));
  const body = bytes.subarray(0, -20);
  const sum = new Bun.CryptoHasher("sha1").update(body).digest();
  await Bun.write(index, Buffer.concat([body, sum]));
  expect(await git(folder, "ls-files")).toContain("../private/key");
  expect(await sent(folder)).toEqual(["named/a.txt", "named/bb-private-key"]);
});

test("a checkout whose tracked folder has become a link sends nothing from behind it", async () => {
  const folder = await checkout("linked", { "a.txt": "a", "data/key": "b" });
  await rename(join(folder, "data"), join(home, "data-of-linked"));
  await symlink(join(home, "private"), join(folder, "data"));
  expect(await git(folder, "ls-files")).toContain("data/key");
  expect(await sent(folder)).toEqual(["linked/a.txt"]);
});

test("a checkout's settings start no program when it is sent, whatever git lacks in it", async () => {
  const folder = await checkout("lacking", { "top.txt": "a", "kept/k": "b", "left/l": "c" });
  await git(folder, "commit", "-qm", "all");
  await git(folder, "sparse-checkout", "init", "--cone", "--sparse-index");
  await git(folder, "sparse-checkout", "set", "kept");
  const tree = await git(folder, "rev-parse", "HEAD:left");
  await rm(join(folder, ".git/objects", tree.slice(0, 2), tree.slice(2)));
  const started = join(home, "started");
  const settings = {
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.url": "ssh://host/path",
    "protocol.allow": "always",
    "protocol.ssh.allow": "always",
    "core.sshCommand": `touch ${started}; false`,
    "core.fsmonitor": `touch ${started}; false`,
    "core.untrackedCache": "true",
  };
  for (const [name, value] of Object.entries(settings)) await git(folder, "config", name, value);
  expect(await sent(folder)).toEqual(["lacking/kept/k", "lacking/top.txt"]);
  expect(existsSync(started)).toBe(false);
});

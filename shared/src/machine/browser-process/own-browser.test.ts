import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { chown, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { ownerOf } from "./own-browser.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manyhands-own-browser-"));
});
afterEach(() => rm(folder, { recursive: true }));

const owner = (of = folder) => ownerOf(of).catch((error) => error.code);

test("the user's data have to be a folder", async () => {
  await writeFile(join(folder, "file"), "");
  expect(await Promise.all([join(folder, "gone"), join(folder, "file")].map(owner))).toEqual([
    ...["config_invalid", "config_invalid"],
  ]);
});

test.skipIf(process.getuid?.() !== 0)("a browser runs as the owner of its data, and never as root", async () => {
  expect(await owner()).toBe("config_invalid");
  await chown(folder, 4242, 4343);
  expect(await owner()).toEqual({ uid: 4242, gid: 4343 });
  using _ = spyOn(process, "getuid").mockReturnValue(1000);
  expect(await owner()).toBeUndefined();
});

test("data that another browser of this machine is using are left to it", async () => {
  if (process.getuid?.() === 0) await chown(folder, 4242, 4242);
  const free = await owner();
  const withLock = async (target: string) => {
    await rm(join(folder, "SingletonLock"), { force: true });
    await symlink(target, join(folder, "SingletonLock"));
    return await owner();
  };
  expect(await withLock(`${hostname()}-${process.pid}`)).toBe("unavailable");
  for (const left of [`${hostname()}-${2 ** 22 + 1}`, `other-machine-${process.pid}`, "nonsense"])
    expect([left, await withLock(left)]).toEqual([left, free]);
  await rm(join(folder, "SingletonLock"));
  await mkdir(join(folder, "SingletonLock"));
  expect(await owner()).toEqual(free);
});

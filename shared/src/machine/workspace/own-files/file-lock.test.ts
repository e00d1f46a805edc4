import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { underLock } from "./file-lock.ts";

test("changes wait for each other, and not for a process that was killed in the middle of one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "file-lock-"));
  try {
    const file = join(folder, "kept");
    await mkdir(`${file}.lock`);
    await Bun.write(join(`${file}.lock`, "killed"), "");
    let inside = 0;
    const together: number[] = [];
    const change = () =>
      underLock(file, async () => {
        together.push(++inside);
        await Bun.sleep(1);
        inside--;
      });
    // All see at once that the lock is stale, and each other's lock right after it.
    await Promise.all(Array.from({ length: 300 }, change));
    expect(together).toEqual(Array(300).fill(1));
    await expect(underLock(file, () => Promise.reject(new Error("no room")))).rejects.toThrow("no room");
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);

test("a lock of the former version, an empty folder, is in nobody's way", async () => {
  const folder = await mkdtemp(join(tmpdir(), "file-lock-"));
  try {
    await mkdir(join(folder, "kept.lock"));
    let changes = 0;
    await underLock(join(folder, "kept"), async () => void changes++);
    expect([changes, await readdir(folder)]).toEqual([1, []]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

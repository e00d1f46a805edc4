import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { underLock } from "./file-lock.ts";

/** How many of the changes that wait for a killed holder of the file's lock were made at once. */
async function maxAtOnce(file: string, changes: number): Promise<number> {
  await Bun.write(join(`${file}.lock`, "killed"), "");
  let inside = 0;
  let most = 0;
  const change = () =>
    underLock(file, async () => {
      most = Math.max(most, ++inside);
      await Bun.sleep(1);
      inside--;
    });
  await Promise.all(Array.from({ length: changes }, change));
  return most;
}

test("changes wait for each other, and not for a process that was killed in the middle of one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "file-lock-"));
  try {
    const files = Array.from({ length: 12 }, (_, at) => join(folder, `kept-${at}`));
    // All see at once that the lock is stale, and each other's lock right after it.
    const together = await Promise.all(files.map((file) => maxAtOnce(file, 20)));
    expect(together).toEqual(files.map(() => 1));
    const [file = ""] = files;
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

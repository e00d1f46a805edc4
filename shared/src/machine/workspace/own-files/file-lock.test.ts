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
    const order: string[] = [];
    const change = (name: string) =>
      underLock(file, async () => {
        order.push(`${name} begins`);
        await Bun.sleep(1);
        order.push(`${name} ends`);
      });
    await Promise.all([change("one"), change("two")]);
    const [first] = order[0]?.split(" ") ?? [];
    const second = first === "one" ? "two" : "one";
    expect(order).toEqual([`${first} begins`, `${first} ends`, `${second} begins`, `${second} ends`]);
    await expect(underLock(file, () => Promise.reject(new Error("no room")))).rejects.toThrow("no room");
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);

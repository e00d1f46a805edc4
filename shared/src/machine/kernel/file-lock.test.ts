import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryLock } from "./file-lock.ts";

test.if(process.platform === "linux")(
  "an opening is shared or alone until it is closed; what cannot be locked is no lock of others",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "manyhands-lock-"));
    const open = () => openSync(join(folder, "file"), "a+");
    const [one, other] = [open(), open()];
    expect([tryLock(one, "shared"), tryLock(other, "shared"), tryLock(one, "exclusive")]).toEqual([true, true, false]);
    closeSync(other);
    expect(tryLock(one, "exclusive")).toBe(true);
    const third = open();
    expect([tryLock(third, "shared"), tryLock(third, "exclusive")]).toEqual([false, false]);
    closeSync(one);
    expect(tryLock(third, "exclusive")).toBe(true);
    closeSync(third);
    expect(() => tryLock(-1, "shared")).toThrow("errno 9");
    await rm(folder, { recursive: true });
  },
);

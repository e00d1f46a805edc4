import { expect, test } from "bun:test";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownSecret } from "./own-secret.ts";

test("a secret is made once, for its owner alone, whoever asks for it at the same time or later", async () => {
  const folder = await mkdtemp(join(tmpdir(), "own-secret-"));
  try {
    const file = join(folder, "deep", "key");
    let made = 0;
    const make = () => Buffer.from(`secret ${made++}`);
    const asked = await Promise.all(Array.from({ length: 5 }, () => ownSecret(file, make)));
    expect(new Set(asked.map(String)).size).toBe(1);
    expect(await ownSecret(file, () => Promise.reject(new Error("It is there.")) as never)).toEqual(asked[0] as Buffer);
    expect(await readdir(join(folder, "deep"))).toEqual(["key"]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await writeFile(file, "of another process");
    expect(String(await ownSecret(file, make))).toBe("of another process");
    await rm(file);
    await mkdir(file);
    await expect(ownSecret(file, make)).rejects.toMatchObject({ code: "EISDIR" });
  } finally {
    await rm(folder, { recursive: true });
  }
});

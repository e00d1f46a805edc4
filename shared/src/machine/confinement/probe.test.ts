import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProbeFolder } from "./probe.ts";

test("a home that can be written is where tiers are tried out, without a note, and is left as it was", async () => {
  const home = join(await mkdtemp(join(tmpdir(), "manyhands-home-")), "workspaces");
  expect(await findProbeFolder(home)).toEqual({ path: home });
  expect(await readdir(home)).toEqual([]);
  await rm(join(home, ".."), { recursive: true });
});

test("a home that cannot be written is told with its cause, and a temporary folder is taken", async () => {
  const base = await mkdtemp(join(tmpdir(), "manyhands-home-"));
  await writeFile(join(base, "file"), "");
  const found = await findProbeFolder(join(base, "file", "workspaces"));
  expect(found.path).toBe(tmpdir());
  expect(found.note).toBe(
    `tried out in ${tmpdir()}, as ${join(base, "file", "workspaces")} cannot be written now (ENOTDIR)`,
  );
  await rm(base, { recursive: true });
});

test.if(process.platform === "linux" && process.getuid?.() === 0)(
  "a home on a disk without room is one that cannot be written, though folders can be made there",
  async () => {
    const home = await mkdtemp(join(tmpdir(), "manyhands-disk-"));
    const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=4k,mode=0755", "none", home], {
      stderr: "ignore",
    });
    try {
      if (mounted.exitCode !== 0) return;
      expect((await findProbeFolder(home)).note).toContain("ENOSPC");
    } finally {
      Bun.spawnSync(["umount", home], { stderr: "ignore" });
      await rm(home, { recursive: true });
    }
  },
);

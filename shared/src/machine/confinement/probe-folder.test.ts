import { expect, test } from "bun:test";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProbeFolder } from "./probe-folder.ts";

test("tiers are tried in the home if it can be written, without a note, and it is left unchanged", async () => {
  const home = join(await mkdtemp(join(tmpdir(), "manyhands-home-")), "workspaces");
  expect(await findProbeFolder(home)).toEqual({ path: home });
  expect(await readdir(home)).toEqual([]);
  await rm(join(home, ".."), { recursive: true });
});

test("a home that cannot be written is reported with the cause, and a temporary folder is used", async () => {
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
  "a home on a full disk counts as not writable, although folders can be created there",
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

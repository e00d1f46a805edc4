/**
 * Packs the published packages into a folder (default `dist`): `manyhands.tgz`, the workspace as
 * one package, and `create-manyhands.tgz`, which creates a project with it.
 */
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { version } from "manyhands/internal/core/release";
import { writePackage } from "./write-package.ts";

const root = resolve(import.meta.dir, "../..");
const target = resolve(process.argv[2] ?? join(root, "dist"));

// Outside the workspace, whose test run would otherwise find the template's tests a second time.
const made = await mkdtemp(join(tmpdir(), "manyhands-pack-"));
try {
  await mkdir(target, { recursive: true });
  await writePackage(root, join(made, "manyhands"), version);
  await writeCreator(join(made, "create-manyhands"));
  for (const name of ["manyhands", "create-manyhands"]) await tarball(name);
} finally {
  await rm(made, { recursive: true });
}

async function writeCreator(folder: string): Promise<void> {
  await cp(join(root, "gateway/create"), folder, { recursive: true });
  const manifest = await Bun.file(join(folder, "package.json")).json();
  await Bun.write(join(folder, "package.json"), `${JSON.stringify({ ...manifest, version }, undefined, 2)}\n`);
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
}

async function tarball(name: string): Promise<void> {
  const file = join(target, `${name}.tgz`);
  const packing = Bun.spawn([process.execPath, "pm", "pack", "--quiet", "--filename", file], {
    cwd: join(made, name),
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await packing.exited) !== 0) throw new Error(`${name} could not be packed`);
  process.stdout.write(`${file}\n`);
}

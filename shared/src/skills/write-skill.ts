import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SkillFile } from "./skill-folder.ts";

/** Writes files that were read as a skill into a new folder, which nobody else can write to yet. */
export async function writeSkillFiles(folder: string, files: readonly SkillFile[]): Promise<void> {
  for (const { path, content } of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, content);
  }
}

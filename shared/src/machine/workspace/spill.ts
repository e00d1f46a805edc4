import { readdir } from "node:fs/promises";
import { AppError } from "../../core/errors.ts";
import type { Workspace } from "../../core/workspace.ts";
import { holdFolder } from "./held-folder.ts";
import { putFile } from "./save-file.ts";
import { ownerOf } from "./workspace-file.ts";

const folders = [".manyhands", "output"];

/** Writes `content` under the next free number in the output folder and answers its path, relative to the root. */
export async function spillInto(
  workspace: Workspace,
  name: string,
  content: string | Uint8Array | Blob,
): Promise<string> {
  const source = typeof content === "string" ? new TextEncoder().encode(content) : content;
  for (let number = await nextNumber(workspace); ; number++) {
    const file = `${String(number).padStart(4, "0")}-${safeName(name)}`;
    const relative = [...folders, file].join("/");
    try {
      const bytes = source instanceof Blob ? source.stream() : source;
      await putFile(workspace, { folders, name: file, relative }, bytes, true);
      return relative;
    } catch (error) {
      if (!(error instanceof AppError && error.code === "conflict")) throw error;
    }
  }
}

async function nextNumber(workspace: Workspace): Promise<number> {
  await using folder = await holdFolder(workspace.root, folders, await ownerOf(workspace));
  const numbers = (await readdir(folder.at(""))).map((name) => Number(/^(\d{4,9})-/.exec(name)?.[1] ?? 0));
  return 1 + numbers.reduce((most, number) => Math.max(most, number), 0);
}

function safeName(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replace(/^[.-]+/, "");
  return safe === "" ? "output.txt" : safe.slice(-80);
}

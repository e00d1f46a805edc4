import { basename, resolve } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import type { OutgoingFile } from "../tasks/agent-client.ts";

/** A request's body may have 10 MB, and files grow by a third on the way. */
const mostBytes = 7_000_000;

/** The files named on the command line, to go along with a message. Rejects with `invalid_input`. */
export async function readFiles(paths: readonly string[], cwd: string): Promise<OutgoingFile[]> {
  const files: OutgoingFile[] = [];
  let total = 0;
  for (const path of paths) {
    const file = Bun.file(resolve(cwd, path));
    if (!(await file.exists())) throw new AppError("invalid_input", `There is no file ${path}.`);
    total += file.size;
    if (total > mostBytes)
      throw new AppError("invalid_input", `The files are larger than ${mostBytes / 1e6} MB together.`);
    files.push({ name: basename(path), mediaType: file.type.split(";")[0] ?? "", bytes: await file.bytes() });
  }
  return files;
}

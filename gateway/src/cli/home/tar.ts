import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "manyhands/internal/core/errors";
import { sanitizeLine } from "manyhands/internal/core/text/sanitize";

/** What goes into an archive: some entries of a folder. */
export type TarSource = { readonly folder: string; readonly entries: readonly string[] };

/** GNU tar's code for files that changed while they were read; the archive is complete. */
const changedMeanwhile = 1;

/** What tar ends with after any error. */
const farewell = /not recoverable: exiting now|Exiting with failure status/;

/**
 * Writes a compressed archive of these entries to a new file, readable by its owner only, and syncs
 * it. Rejects with `unavailable` if tar is missing or fails.
 */
export async function writeTar(path: string, sources: readonly TarSource[], exclude: readonly string[]): Promise<void> {
  const from = sources
    .filter(({ entries }) => entries.length > 0)
    .flatMap(({ folder, entries }) => ["-C", folder, ...entries.map((entry) => `./${entry}`)]);
  await using file = await open(path, "wx", 0o600);
  const { code, said } = await tar(["-czf", "-", ...exclude.map((one) => `--exclude=./${one}`), ...from], file);
  if (code !== 0 && code !== changedMeanwhile) throw failed("write", path, said);
  await file.sync();
}

/** Unpacks an archive into a folder that exists. Rejects as `writeTar`. */
export async function readTar(path: string, folder: string): Promise<void> {
  const { code, said } = await tar(["-xzpf", path, "-C", folder]);
  if (code !== 0) throw failed("read", path, said);
}

/** Its exit code, and the last thing it said that is a cause. */
async function tar(args: readonly string[], into?: FileHandle): Promise<{ code: number; said: string }> {
  const program = Bun.which("tar");
  if (program === null) throw new AppError("unavailable", "There is no tar on this machine. Install it and try again.");
  const child = Bun.spawn([program, ...args], { stdin: "ignore", stdout: into?.fd ?? "ignore", stderr: "pipe" });
  const [code, said] = await Promise.all([child.exited, child.stderr.text()]);
  const lines = said.trim().split("\n");
  return { code, said: lines.findLast((line) => !farewell.test(line)) ?? "" };
}

function failed(what: string, path: string, said: string): AppError {
  return new AppError("unavailable", `tar could not ${what} ${path}: ${sanitizeLine(said, 300)}`);
}

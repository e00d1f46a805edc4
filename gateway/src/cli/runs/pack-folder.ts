import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { AppError } from "manyhands/internal/core/errors";
import { archiveStream } from "manyhands/internal/machine/workspace/archive";
import type { OutgoingFile } from "../../tasks/agent-client.ts";
import { historyPaths } from "./git-history.ts";

/** The bytes of all files of a folder before they are packed; what is larger is not read at all. */
const maxFolderBytes = 100_000_000;

/** Packed bytes above which a checkout is sent without its history, as a task's files have 7 MB. */
const longestWithHistory = 6_000_000;

/** What no task is about, where git does not say what is left out. */
const leftOut = /(^|\/)(\.git|node_modules|__pycache__|\.venv)(\/|$)/;

/** Files for keys, which are sent only if they are in the history that is sent too. */
const forKeys = /(^|\/)\.env(\.(.*\.)?local)?$/;

/**
 * A folder as one `.tar.gz`, with the folder around its files: in a git checkout those that git
 * tracks or would add, and its history if it is short, elsewhere all but installed packages; links
 * and a `.env` that git does not track are left out. Rejects with `invalid_input` if nothing is
 * left or it is too large.
 */
export async function packFolder(folder: string): Promise<OutgoingFile> {
  const name = basename(folder) || "folder";
  const root = await realpath(folder);
  const files = [];
  let total = 0;
  for (const path of await pathsIn(root)) {
    const stats = (await isWithin(root, path)) ? await lstat(join(root, path)) : undefined;
    if (stats?.isFile() !== true) continue;
    total += stats.size;
    if (total > maxFolderBytes)
      throw new AppError("invalid_input", `The folder ${name} has more than ${maxFolderBytes / 1e6} MB.`);
    files.push({
      path: `${name}/${path}`,
      size: stats.size,
      modifiedAt: stats.mtimeMs,
      isExecutable: (stats.mode & 0o100) !== 0,
      read: () => Bun.file(join(root, path)).bytes(),
    });
  }
  if (files.length === 0) throw new AppError("invalid_input", `The folder ${name} has no files to send.`);
  const whole = await packed(files);
  const isLong = whole.length > longestWithHistory;
  const bytes = isLong ? await packed(files.filter(({ path }) => !path.startsWith(`${name}/.git/`))) : whole;
  return { name: `${name}.tar.gz`, mediaType: "application/gzip", bytes };
}

async function packed(files: Parameters<typeof archiveStream>[0]): Promise<OutgoingFile["bytes"]> {
  return await new Response(await archiveStream(files, { maxBytes: 2 * maxFolderBytes })).bytes();
}

/**
 * Whether a path leads to where it says, below the folder: git lists what the index of a checkout
 * says, and whoever made the checkout wrote that.
 */
async function isWithin(root: string, path: string): Promise<boolean> {
  const place = dirname(join(root, path));
  const isBelow = place === root || place.startsWith(root.endsWith(sep) ? root : root + sep);
  return isBelow && (await realpath(place).catch(() => undefined)) === place;
}

async function pathsIn(folder: string): Promise<string[]> {
  const known = await pathsOfGit(folder);
  const paths = known.length > 0 ? known : await pathsBelow(folder);
  const history = known.length > 0 ? await historyPaths(folder) : [];
  return [...history, ...paths.filter((path) => !leftOut.test(path))].sort();
}

async function pathsBelow(folder: string): Promise<string[]> {
  const paths = await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: folder, dot: true }));
  return paths.filter((path) => !forKeys.test(path));
}

/** None where git is missing, or the folder is no checkout of it or left out of it. */
async function pathsOfGit(folder: string): Promise<string[]> {
  // A checkout may name programs for git to ask about changed files, and to fetch with what it says
  // is missing; none is run, so that git can read one that belongs to somebody else too.
  const settings = ["-c", "core.fsmonitor=false", "-c", "safe.directory=*"];
  const command = ["git", ...settings, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"];
  const env = { ...process.env, GIT_ALLOW_PROTOCOL: "", GIT_NO_LAZY_FETCH: "1" };
  try {
    const git = Bun.spawn(command, {
      cwd: folder,
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      timeout: 60_000,
    });
    const listed = await new Response(git.stdout).text();
    if ((await git.exited) !== 0) return [];
    const entries = listed.split("\0").filter((entry) => entry !== "");
    const paths = entries.map((entry) => ({ path: entry.slice("? ".length), isTracked: !entry.startsWith("? ") }));
    const sent = paths.filter(({ path, isTracked }) => isTracked || !forKeys.test(path));
    return [...new Set(sent.map(({ path }) => path))];
  } catch {
    return [];
  }
}

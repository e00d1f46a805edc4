import { closeSync, constants, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { lstat, open, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod";
import { AppError, messageOf, unlessMissing } from "../../core/errors.ts";
import { tryLock } from "../kernel/file-lock.ts";
import { guardedFiles, letOwnerIn } from "../sandbox/guarded-names.ts";

/**
 * Guarded only where they exist: an empty placeholder would be visible, or confuse the programs
 * that use these names. A mount point cannot be renamed; otherwise `.git` could be moved away and
 * recreated with other hooks.
 */
const guardedWhenPresent = [
  ".git",
  ".git/hooks",
  "mcp.json",
  "manyhands.toml",
  ".envrc",
  ".vscode",
  ".idea",
  ".claude",
];
/** These stay writable; only their names are guarded. */
const writable: readonly string[] = [".git"];

const placeholderMode = 0o444;

/**
 * The names that are mount points in one sandbox, with the bwrap arguments for them, until the
 * sandbox has ended.
 */
export type NamePins = {
  readonly names: readonly string[];
  readonly argv: readonly string[];
  /**
   * Drops the names that are guarded only where they exist, until no sandbox of the workspace runs.
   * Returns whether there were any.
   */
  loosen(): boolean;
  /**
   * Lets go of the names and leaves the placeholders, for a sandbox that rests; `unpinNames`
   * removes them.
   */
  leave(): void;
  /** Removes the placeholders if this was the last sandbox. Call it once, unless left. */
  release(): Promise<void>;
};

/**
 * Keeps the guarded names of a workspace read-only inside bwrap. They are chosen when its first
 * sandbox starts, while nothing in it runs, and stay the same until the last has ended, whichever
 * servers start them: each sandbox has the same mount points, so that no process in any of them can
 * rename what the next one mounts. A name that appears later could be changed by running processes;
 * it is guarded the next time a first sandbox starts. An empty file stands in for a name of
 * `guardedFiles` that does not exist.
 *
 * A file beside the workspace, which no sandbox shows, holds the names; each sandbox has it locked
 * until it ends. Rejects with `sandbox_unavailable` if that file cannot be used.
 */
export async function pinNames(workspace: string): Promise<NamePins> {
  const path = `${workspace}.pins`;
  const file = await hold(path, workspace);
  try {
    await letOwnerIn(join(workspace, ".git")).catch(unlessMissing);
    const names = await unchanged(workspace, file, path);
    return {
      names,
      argv: names.flatMap((name) => {
        const at = join(workspace, name);
        return [writable.includes(name) ? "--bind" : "--ro-bind", at, at];
      }),
      loosen: () =>
        drop(
          file,
          [...readPins(path).pinned.keys()].filter((name) => guardedWhenPresent.includes(name)),
        ),
      leave: () => closeSync(file),
      release: () => clearIfLast(workspace, path, file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/**
 * Removes the placeholders that a sandbox left when it began to rest, unless others run in the
 * workspace or have removed them.
 */
export async function unpinNames(workspace: string): Promise<void> {
  const path = `${workspace}.pins`;
  const { O_NOFOLLOW, O_RDWR } = constants;
  const held = await open(path, O_RDWR | O_NOFOLLOW).catch(unlessMissing);
  if (held === undefined) return;
  try {
    if (tryLock(held.fd, "exclusive") && (await isAt(held.fd, path))) await clear(workspace, path);
  } finally {
    await held.close();
  }
}

async function clearIfLast(workspace: string, path: string, file: number): Promise<void> {
  try {
    if (tryLock(file, "exclusive")) await clear(workspace, path);
  } finally {
    closeSync(file);
  }
}

/** Choosing names takes milliseconds; this allows for a very busy machine. */
const patienceMs = 30_000;
const pauseMs = 1;

/** Opens the file and shares its lock; chooses the names if nobody else has it. */
async function hold(path: string, workspace: string): Promise<number> {
  for (const started = performance.now(); ; await Bun.sleep(pauseMs)) {
    const file = await tryToHold(path, workspace).catch(unusable);
    if (file !== undefined) return file;
    // After a last look, which a machine that stood still would have gone without.
    if (performance.now() - started > patienceMs) break;
  }
  throw new AppError("sandbox_unavailable", `another process holds ${path} all the time`);
}

/** Undefined if others are about to choose the names or to remove the file. */
async function tryToHold(path: string, workspace: string): Promise<number | undefined> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  let isHeld = false;
  try {
    if (tryLock(file, "exclusive") && (await isAt(file, path))) await choose(workspace, file);
    // While the lock is exchanged, others may have chosen names, or left and removed the file.
    isHeld = tryLock(file, "shared") && (await isAt(file, path)) && fstatSync(file).size > 0;
  } finally {
    if (!isHeld) closeSync(file);
  }
  return isHeld ? file : undefined;
}

function unusable(cause: unknown): never {
  const reason = messageOf(cause);
  throw new AppError("sandbox_unavailable", `the names to guard cannot be noted: ${reason}`, { cause });
}

async function isAt(file: number, path: string): Promise<boolean> {
  const [held, there] = [fstatSync(file), await lstat(path).catch(unlessMissing)];
  return held.ino === there?.ino && held.dev === there.dev;
}

/** The first line has what was chosen, each further one the names that were dropped since. */
const chosen = z.strictObject({ pinned: z.record(z.string(), z.string()), placeholders: z.array(z.string()) });
const dropped = z.array(z.string());

async function choose(workspace: string, file: number): Promise<void> {
  await letOwnerIn(join(workspace, ".git")).catch(unlessMissing);
  const placeholders: string[] = [];
  for (const name of guardedFiles) if (await placePlaceholder(join(workspace, name))) placeholders.push(name);
  const pinned = new Map<string, string>();
  // Folders come before their contents, because they are mounted in this order.
  for (const name of [...guardedFiles, ...guardedWhenPresent]) {
    const identity = isReachable(name, pinned) ? await identityOf(join(workspace, name)) : undefined;
    if (identity !== undefined) pinned.set(name, identity);
  }
  ftruncateSync(file, 0);
  note(file, { pinned: Object.fromEntries(pinned), placeholders } satisfies z.output<typeof chosen>);
}

/** One write, so that whoever reads meanwhile sees the whole line or nothing of it. */
function note(file: number, line: z.core.util.JSONType): void {
  writeSync(file, `${JSON.stringify(line)}\n`);
}

/** The mount points of every sandbox of the workspace, each with the identity of its file. */
function readPins(path: string): { readonly pinned: Map<string, string>; readonly placeholders: readonly string[] } {
  const [first = "", ...later] = readFileSync(path, "utf8").trimEnd().split("\n");
  const { pinned, placeholders } = chosen.parse(JSON.parse(first));
  const gone = new Set(later.flatMap((line) => dropped.parse(JSON.parse(line))));
  return { pinned: new Map(Object.entries(pinned).filter(([name]) => !gone.has(name))), placeholders };
}

function drop(file: number, names: readonly string[]): boolean {
  if (names.length > 0) note(file, [...names]);
  return names.length > 0;
}

/**
 * The names that are still the files that were pinned. One that was removed or replaced from
 * outside is no longer a mount point in the running sandboxes, and is dropped for good.
 */
async function unchanged(workspace: string, file: number, path: string): Promise<string[]> {
  const { pinned } = readPins(path);
  const known = [...pinned.keys()];
  for (const [name, identity] of pinned)
    if (!isReachable(name, pinned) || (await identityOf(join(workspace, name))) !== identity) pinned.delete(name);
  drop(
    file,
    known.filter((name) => !pinned.has(name)),
  );
  return [...pinned.keys()];
}

/**
 * Whether the folder that contains the name is pinned itself: below a link it would be somewhere
 * else.
 */
function isReachable(name: string, pinned: ReadonlyMap<string, string>): boolean {
  const parent = dirname(name);
  return parent === "." || pinned.has(parent);
}

/** Identifies the file or folder at a path; undefined for a link, which a mount would follow. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isFile() || found?.isDirectory() ? `${found.dev}:${found.ino}` : undefined;
}

/**
 * Whether a placeholder now holds the name: a new one, or one that a killed process left behind.
 */
async function placePlaceholder(path: string): Promise<boolean> {
  try {
    await writeFile(path, "", { flag: "wx", mode: placeholderMode });
    return true;
  } catch {
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) return false;
    return found.isFile() && found.size === 0 && (found.mode & 0o777) === placeholderMode;
  }
}

/** Only under the exclusive lock: nothing in the workspace runs. */
async function clear(workspace: string, path: string): Promise<void> {
  for (const name of readPins(path).placeholders) await removeIfEmpty(join(workspace, name));
  await rm(path, { force: true });
}

async function removeIfEmpty(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() && found.size === 0) await rm(path, { force: true });
}

import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const noEnv = "--no-env-file";
const noConfig = "--config=/dev/null";

/**
 * Runs the program that this process is called with, and what it is to preload, as Bun would:
 * `programs` loads each by its path. Anything else is the true Bun's to do, also where a folder's
 * settings would be read, or if a sandbox hides that, the Bun's that every executable is.
 */
export async function startCompiled(
  programs: Readonly<Record<string, () => Promise<unknown>>>,
  trueBun: string,
): Promise<void> {
  const args = process.argv.slice(2);
  const options: string[] = [];
  const paths: string[] = [];
  let at = 0;
  for (; args[at]?.startsWith("--"); at++)
    if (args[at] === "--preload") paths.push(args[++at] ?? "");
    else options.push(args[at] ?? "");
  const program = resolve(args[at] ?? "");
  const loads = [...paths, program].flatMap((path) => programs[resolve(path)] ?? []);
  const isPlain = options.every((option) => option === noEnv || option === noConfig);
  if (loads.length <= paths.length || !isPlain || hasSettings(options)) becomeBun(trueBun, args);
  process.argv = [process.execPath, program, ...args.slice(at + 1)];
  for (const load of loads) await load();
}

/** Whether Bun would read settings here that change what a program does. */
function hasSettings(options: readonly string[]): boolean {
  if (!options.includes(noEnv) && existsSync(".env")) return true;
  return (
    !options.includes(noConfig) && existsSync("bunfig.toml") && /preload|env/.test(readFileSync("bunfig.toml", "utf8"))
  );
}

function becomeBun(trueBun: string, args: readonly string[]): never {
  if (process.execve === undefined) throw new Error("process.execve is missing: Bun 1.4.4 or newer is needed");
  const argv = [process.argv0, ...args];
  if (isExecutable(trueBun)) process.execve(trueBun, argv);
  return process.execve(process.execPath, argv, { ...process.env, BUN_BE_BUN: "1" });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

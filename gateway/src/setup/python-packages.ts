import { mkdir, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { sha256Of } from "manyhands/internal/core/text/sha256";
import { sandboxPath } from "manyhands/internal/machine/process/environment";
import { type ProgramOutcome, runProgram } from "./command.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const installMs = 600_000;
const venvMs = 60_000;
/** What an environment was made for; it is the last thing written into it. */
const marker = "manyhands.json";

/**
 * Puts the packages of `[python]` into a virtual environment of the home, with the Python that
 * commands see and whatever index its pip is set to; instant if they are there. A file of
 * requirements takes their place, each of which has to have its hash. Wheels only: nothing of a
 * package runs here. Failing is never an error: programs then have what Python has
 * without. Returns a line for people; undefined if there is nothing to say.
 */
export async function preparePython(
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
  say: (line: string) => void,
): Promise<string | undefined> {
  const config = await loadConfig({ cwd, env }).catch((error) => {
    if (error instanceof AppError) return error;
    throw error;
  });
  if (config instanceof AppError) return row("–", `not looked at: ${config.message}`);
  const { packages, requirements, environment } = config.python;
  if (packages.length === 0 && requirements === undefined) {
    await rm(environment, { recursive: true, force: true });
    return undefined;
  }
  const found = Bun.which("python3", { PATH: sandboxPath });
  if (found === null) return undefined;
  const python = await realpath(found);
  const pins =
    requirements &&
    (await Bun.file(requirements)
      .text()
      .catch(() => undefined));
  if (requirements !== undefined && pins === undefined) return row("–", `missing: ${requirements} cannot be read.`);
  const wanted = `${JSON.stringify({ packages, python, ...(pins !== undefined && { pins: sha256Of(pins) }) })}\n`;
  const named = requirements === undefined ? packages.join(", ") : `what ${basename(requirements)} names`;
  if (await isMade(environment, wanted)) return row("✓", `${named} in ${environment}`);
  say(`Installing ${named} for agents' Python …`);
  const asked = requirements === undefined ? packages : ["--require-hashes", "-r", requirements];
  const arriving = join(dirname(environment), `.python-${crypto.randomUUID()}`);
  try {
    await mkdir(dirname(environment), { recursive: true });
    const failed = await install(python, asked, arriving, (argv, timeoutMs) => readable(argv, timeoutMs, env));
    if (failed !== undefined)
      return row("–", `missing: ${failed} Agents' Python has what it has. Again: manyhands setup`);
    await Bun.write(join(arriving, marker), wanted);
    await replace(environment, arriving);
    return row("+", `installed ${named} in ${environment}`);
  } finally {
    await rm(arriving, { recursive: true, force: true });
  }
}

function row(mark: string, text: string): string {
  return `  ${mark} ${"libraries".padEnd(12)} ${text}`;
}

async function isMade(environment: string, wanted: string): Promise<boolean> {
  const made = Bun.file(join(environment, marker));
  if (!(await made.exists()) || (await made.text()) !== wanted) return false;
  const own = join(environment, "bin/python3");
  // Its Python may be gone, or not be allowed to run. With -S no package's `.pth` runs here.
  const ran = await runProgram([own, "-I", "-S", "-c", ""], { cwd: "/", timeoutMs: venvMs }).catch(() => undefined);
  return ran?.exitCode === 0;
}

type Run = (argv: readonly string[], timeoutMs: number) => Promise<ProgramOutcome>;

/** Makes the environment in a new folder; returns why it could not. */
async function install(
  python: string,
  asked: readonly string[],
  folder: string,
  run: Run,
): Promise<string | undefined> {
  const own = join(folder, "bin/python3");
  const bare = await run([python, "-m", "venv", "--without-pip", folder], venvMs);
  if (bare.exitCode !== 0) return `${lastLine(bare)} On Debian: apt-get install python3-venv.`;
  // The machine's pip installs into it; a pip of its own is needed only where there is none.
  const hasPip = (await run([python, "-m", "pip", "--python", own, "--version"], venvMs)).exitCode === 0;
  if (!hasPip) {
    const seeded = await run([own, "-m", "ensurepip"], venvMs);
    if (seeded.exitCode !== 0) return "pip is missing. On Debian: apt-get install python3-pip.";
  }
  const pip = hasPip ? [python, "-m", "pip", "--python", own] : [own, "-m", "pip"];
  const options = ["--quiet", "--no-input", "--disable-pip-version-check", "--only-binary", ":all:", "--retries", "1"];
  const done = await run([...pip, "install", ...options, ...asked], installMs);
  return done.exitCode === 0 ? undefined : `${lastLine(done)}.`.replace("..", ".");
}

/** Runs a command whose files the user of sandboxed commands can read. */
function readable(argv: readonly string[], timeoutMs: number, env: Environment): Promise<ProgramOutcome> {
  const set = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return runProgram(["/bin/sh", "-c", 'umask 022 && exec "$@"', "sh", ...argv], { cwd: "/", timeoutMs, env: set });
}

function lastLine({ output, exitCode }: ProgramOutcome): string {
  if (exitCode === null) return "it took too long.";
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  return (lines.findLast((line) => line.startsWith("ERROR")) ?? lines.at(-1) ?? "it failed").slice(0, 300);
}

async function replace(environment: string, arriving: string): Promise<void> {
  const leaving = `${arriving}-leaving`;
  await rename(environment, leaving).catch(() => undefined);
  await rename(arriving, environment);
  await rm(leaving, { recursive: true, force: true });
}

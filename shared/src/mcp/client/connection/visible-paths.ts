import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { SandboxPaths } from "../../../machine/sandbox/sandbox.ts";
import type { ProgramServer } from "../servers/server-config.ts";

/**
 * Paths that no program may see: this system's home, its settings, and the user's home folder as a
 * whole.
 */
export type KeptPaths = { readonly home: string; readonly others: readonly string[] };

/**
 * A server's program as the sandbox runs it, and what it sees besides the system and its own
 * folder.
 */
export type ProgramView = {
  readonly argv: readonly string[];
  readonly cwd: string | undefined;
  readonly paths: SandboxPaths;
};

/**
 * The program, each file that its arguments name, and the paths in `read`, `write` and `cwd`. The
 * program's folder is included unless it contains hidden paths. Rejects with `unavailable` if the
 * program or a named path does not exist, or if a named path contains a hidden one. Nothing is
 * hidden from a trusted program.
 */
export async function programView(server: ProgramServer, kept: KeptPaths | undefined): Promise<ProgramView> {
  const keeps = kept === undefined ? nothingKept : await keeper(kept);
  const named = async (path: string, key: string) => {
    const real = await realpath(path).catch(() => {
      throw cannotStart(server, `its ${key} ${path} is not there`);
    });
    const held = keeps.heldBy(real);
    if (held === undefined) return real;
    throw cannotStart(
      server,
      `its ${key} ${path} holds ${held}, which no server's program may see; name what it needs there`,
    );
  };
  const program = await findProgram(server);
  const environment = program.home === undefined ? [] : [await named(program.home, "Python environment")];
  const cwd = server.cwd === undefined ? undefined : await named(server.cwd, "cwd");
  const read = await Promise.all(server.read.map((path) => named(path, "read")));
  const write = await Promise.all(server.write.map((path) => named(path, "write")));
  const words = await Promise.all(server.args.map(fileNamed));
  const files = words.filter((path) => path !== undefined).filter((path) => !keeps.isKept(path));
  const folder = dirname(program.real);
  const seen = [keeps.isKept(folder) ? program.real : folder, ...environment, ...files, ...read];
  const paths = [...seen, ...(cwd === undefined ? [] : [cwd])].filter((path) => !isSystem(`${path}/`));
  // A file named through a link is visible at its real path only.
  const args = server.args.map((word, index) => words[index] ?? word);
  return { argv: [program.path, ...args], cwd, paths: { read: [...new Set(paths)], write: [...new Set(write)] } };
}

const nothingKept = { heldBy: () => undefined, isKept: () => false };

/**
 * Checks real paths. `heldBy`: a hidden path at or below this path. `isKept`: whether there is one,
 * or the path is inside the home.
 */
async function keeper({ home, others }: KeptPaths) {
  const real = (path: string) => realpath(path).catch(() => path);
  const ours = await real(home);
  const all = [ours, ...(await Promise.all(others.map(real)))];
  const heldBy = (path: string) => all.find((one) => isWithin(one, path));
  return { heldBy, isKept: (path: string) => heldBy(path) !== undefined || isWithin(path, ours) };
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** `home` is the program's Python environment, derived from the path it was requested by. */
type Program = { readonly path: string; readonly real: string; readonly home?: string };

async function findProgram(server: ProgramServer): Promise<Program> {
  const { command, env } = server;
  const path = command.includes("/") ? command : Bun.which(command, { PATH: env.PATH ?? process.env.PATH ?? "" });
  const real = path === null ? undefined : await realpath(path).catch(() => undefined);
  if (path === null || real === undefined) throw cannotStart(server, `there is no program ${command}`);
  const home = await pythonEnvironment(path);
  if (home !== undefined) return { path: join(home, "bin", basename(path)), real, home };
  // In the sandbox only the real path exists, unless the name is in a system folder.
  return { path: isSystem(path) && isSystem(real) ? path : real, real };
}

/**
 * The Python virtual environment of a path: its interpreter is a link that finds its packages
 * relative to its own location.
 */
async function pythonEnvironment(path: string): Promise<string | undefined> {
  const folder = await realpath(dirname(dirname(path)));
  const marked = await stat(join(folder, "pyvenv.cfg")).catch(() => undefined);
  return marked?.isFile() && basename(dirname(path)) === "bin" ? folder : undefined;
}

/** The real path of the file that an argument names by an absolute path. */
async function fileNamed(word: string): Promise<string | undefined> {
  const real = word.startsWith("/") ? await realpath(word).catch(() => undefined) : undefined;
  return real !== undefined && (await stat(real)).isFile() ? real : undefined;
}

function cannotStart({ name }: ProgramServer, why: string): AppError {
  return new AppError("unavailable", `The server ${name} cannot be started: ${why}.`);
}

function isSystem(path: string): boolean {
  return /^\/(?:usr|bin|sbin|lib|lib32|lib64)\//.test(path);
}

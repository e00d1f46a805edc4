import { chown, mkdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../errors.ts";
import type { Sandbox, SandboxProcess } from "../sandbox/sandbox.ts";
import { networkOf } from "./program-network.ts";
import type { ProgramServer } from "./server-config.ts";
import { serverId } from "./tool-name.ts";
import { openWayOut, type WayOutDeps } from "./way-out.ts";

/** What programs are started with. */
export type ProgramDeps = WayOutDeps & {
  /** Confines them. */
  readonly sandbox: Sandbox;
  /** Starts those that are trusted by name; limits and a built environment are all it holds them by. */
  readonly unconfined: () => Promise<Sandbox>;
  /** Where each has a folder of its own. */
  readonly folder: string;
};

/** A server lives long: processor time is bounded over its life, memory and processes as those of any command. */
const limits = { cpuSeconds: 24 * 60 * 60 };

/**
 * Starts a server's program in the sandbox: it sees the system, its own folder, the program, and the paths its entry names; it reaches the hosts
 * its entry names; its environment is built from what the entry names. Rejects with `sandbox_unavailable` where there is no sandbox and it is not trusted, `unavailable` where
 * the program is not there.
 */
export async function startProgram(server: ProgramServer, deps: ProgramDeps): Promise<SandboxProcess> {
  const trusted = server.trust === "unconfined";
  if (!trusted && deps.sandbox.tier === "none")
    throw new AppError(
      "sandbox_unavailable",
      `The server ${server.name} (${server.shown}) is not started: this machine has no sandbox. "trust": "unconfined" in its entry starts it without.`,
    );
  const sandbox = trusted ? await deps.unconfined() : deps.sandbox;
  const folder = await ownFolder(join(deps.folder, serverId(server.name)), sandbox.user);
  const program = await findProgram(server);
  const cwd = server.cwd === undefined ? undefined : await existing(server.cwd, server, "cwd");
  const paths = await visiblePaths(server, program, cwd);
  // Run by the name it was asked for, as some programs are several in one.
  const argv = [program.path, ...server.args];
  const command = {
    argv: cwd === undefined ? argv : ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", cwd, ...argv],
    workspace: folder,
    env: server.env,
    paths,
    limits,
  };
  const network = networkOf(server);
  if (trusted || network.length === 0) return sandbox.spawn({ ...command, network: "none" });
  const way = await openWayOut({ name: server.name, network }, sandbox.user, deps);
  try {
    const started = await sandbox.spawn({ ...command, network: way.proxy });
    started.exited.then(way.close).catch((error: unknown) => {
      deps.log.warn({ server: server.name, err: error }, "what let an MCP server out was not taken away");
    });
    return started;
  } catch (error) {
    await way.close();
    throw error;
  }
}

async function ownFolder(path: string, user: Sandbox["user"]): Promise<string> {
  await mkdir(path, { recursive: true });
  if (user !== undefined) await chown(path, user.uid, user.gid);
  return path;
}

/** `home` is the environment it brings along, which is known by where it was asked for. */
type Program = { readonly path: string; readonly real: string; readonly home?: string };

async function findProgram({ command, env, name }: ProgramServer): Promise<Program> {
  const path = command.includes("/") ? command : Bun.which(command, { PATH: env.PATH ?? process.env.PATH ?? "" });
  const real = path === null ? undefined : await realpath(path).catch(() => undefined);
  if (path === null || real === undefined)
    throw new AppError("unavailable", `The server ${name} cannot be started: there is no program ${command}.`);
  const home = await pythonEnvironment(path);
  if (home !== undefined) return { path: join(home, "bin", basename(path)), real, home };
  // In the sandbox only the real path exists, unless the name lies among the system's folders.
  return { path: isSystem(path) && isSystem(real) ? path : real, real };
}

/** The virtual environment of Python that a path lies in: its interpreter is a link, and finds its packages by its own place. */
async function pythonEnvironment(path: string): Promise<string | undefined> {
  const folder = await realpath(dirname(dirname(path)));
  const marked = await stat(join(folder, "pyvenv.cfg")).catch(() => undefined);
  return marked?.isFile() && basename(dirname(path)) === "bin" ? folder : undefined;
}

/** Where the program lies, the files its arguments name with what lies beside them, and what the entry says. */
async function visiblePaths({ args, read, write, ...server }: ProgramServer, program: Program, cwd?: string) {
  const named = await Promise.all(args.filter((word) => word.startsWith("/")).map(fileFolder));
  const given = await Promise.all(read.map((path) => existing(path, server, "read")));
  const all = [dirname(program.real), program.home, ...named, ...given, cwd].filter((path) => path !== undefined);
  const writable = await Promise.all(write.map((path) => existing(path, server, "write")));
  return { read: [...new Set(all)].filter((path) => !isSystem(`${path}/`)), write: [...new Set(writable)] };
}

async function fileFolder(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  const isFile = real !== undefined && (await stat(real)).isFile();
  return isFile && dirname(real) !== "/" ? dirname(real) : undefined;
}

async function existing(path: string, { name }: { readonly name: string }, key: string): Promise<string> {
  return realpath(path).catch(() => {
    throw new AppError("unavailable", `The server ${name} cannot be started: its ${key} ${path} is not there.`);
  });
}

function isSystem(path: string): boolean {
  return /^\/(?:usr|bin|sbin|lib|lib32|lib64)\//.test(path);
}

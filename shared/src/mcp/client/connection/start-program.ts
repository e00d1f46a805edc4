import { chown, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError } from "../../../core/errors.ts";
import type { Sandbox, SandboxProcess } from "../../../machine/sandbox/sandbox.ts";
import type { ProgramServer } from "../servers/server-config.ts";
import { serverId } from "../servers/tool-name.ts";
import { openProgramEgress, type ProgramEgressDeps } from "./program-egress.ts";
import { type KeptPaths, programView } from "./visible-paths.ts";

/** What starting programs needs. */
export type ProgramDeps = ProgramEgressDeps & {
  /** Confines the programs. */
  readonly sandbox: Sandbox;
  /** Starts trusted programs; only limits and a constructed environment restrict those. */
  readonly unconfined: () => Promise<Sandbox>;
  /** Holds a folder for each program. */
  readonly folder: string;
  /** Paths that no program may see. */
  readonly kept: KeptPaths;
};

/**
 * A server is long-lived: processor time is limited over its whole life, memory and processes as
 * for any command.
 */
const limits = { cpuSeconds: 24 * 60 * 60 };

/**
 * Starts a server's program in the sandbox. It sees the system, its own folder, the program, and
 * the paths its entry names; it reaches the hosts its entry names; its environment is built from
 * the entry. Rejects with `sandbox_unavailable` if there is no sandbox and the server is not
 * trusted, and with `unavailable` if the program does not exist.
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
  const { argv, cwd, paths } = await programView(server, trusted ? undefined : deps.kept);
  const command = {
    argv: cwd === undefined ? argv : ["/bin/sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", cwd, ...argv],
    workspace: folder,
    env: server.env,
    paths,
    limits,
  };
  const network = networkOf(server);
  if (trusted || network.length === 0) return sandbox.spawn({ ...command, network: "none" });
  const way = await openProgramEgress({ name: server.name, network }, sandbox.user, deps);
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

const npm = ["registry.npmjs.org"];
const pypi = ["pypi.org", "files.pythonhosted.org"];

/** Programs that download what they then start, and the hosts they download from. */
const fetchers: ReadonlyMap<string, readonly string[]> = new Map([
  ["npx", npm],
  ["bunx", npm],
  ["uvx", pypi],
]);

/**
 * The hosts a program may reach: those its entry names; if it names none, those that a downloading
 * program needs to start.
 */
export function networkOf({ command, network }: Pick<ProgramServer, "command" | "network">): readonly string[] {
  return network ?? fetchers.get(basename(command)) ?? [];
}

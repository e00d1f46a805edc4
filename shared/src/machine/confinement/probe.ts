import { chmod, chown, mkdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError, unlessMissing } from "../../core/errors.ts";
import { makeOwnedFolder } from "../process/owned-folder.ts";
import { defaultLimits } from "../sandbox/limits.ts";
import type { SandboxProcess } from "../sandbox/sandbox.ts";
import type { Confinement } from "./confinement.ts";
import { startProcess } from "./start-process.ts";

const deadlineMs = 10_000;
/** The exit code of what was ended by SIGKILL. */
const killed = 137;

const script = `
id -u
echo "written" > allowed
chmod 0640 allowed
cat "$SECRET"
echo "escaped" > "$OUTSIDE"
chmod 0666 "$SECRET"
exit 0
`;

/**
 * Tries a confinement where it will be used, in a new folder below the folder of all workspaces: a
 * command must run, not as root, and write its own workspace, but must not read, write or make
 * accessible to others what is beside it. Rejects with the reason otherwise; returns what else the
 * confinement lacks.
 */
export async function probe(confinement: Confinement, home: string): Promise<string[]> {
  const base = await makeOwnedFolder(await realpath(home), ".probe");
  try {
    return await tryOut(confinement, base);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

async function tryOut(confinement: Confinement, base: string): Promise<string[]> {
  // Workspaces are side by side in a folder that others may traverse, so this one must be
  // traversable too.
  const workspace = join(base, "workspace");
  const neighbour = join(base, "neighbour");
  const secret = join(neighbour, "secret");
  const outside = join(neighbour, "outside");
  const canary = crypto.randomUUID();
  await chmod(base, 0o755);
  await mkdir(workspace);
  await mkdir(neighbour, { mode: 0o777 });
  await writeFile(secret, canary, { mode: 0o644 });
  const { user } = confinement;
  for (const path of user ? [workspace, neighbour, secret] : []) await chown(path, user?.uid ?? 0, user?.gid ?? 0);

  const process = await startProcess(confinement, {
    argv: ["/bin/sh", "-c", script],
    workspace,
    env: { PATH: "/usr/bin:/bin", SECRET: secret, OUTSIDE: outside },
    limits: defaultLimits,
    group: undefined,
  });
  const { stdout, stderr, exitCode, isOverdue } = await finish(process);
  const refuse = (reason: string) => {
    throw new AppError("sandbox_unavailable", reason);
  };
  if (exitCode === killed && !isOverdue) refuse("the trial was killed, as where a machine is out of memory");
  if (exitCode !== 0) refuse(firstLine(stderr) || `a command ended with exit code ${exitCode}`);
  if (stdout.split("\n")[0] === "0") refuse("a command ran as root");
  if (stdout.includes(canary)) refuse("a forbidden file could be read");
  if (await exists(outside)) refuse("a forbidden file could be written");
  if ((await modeOf(secret)) !== 0o644) refuse("the mode of a forbidden file could be changed");
  const mode = await modeOf(join(workspace, "allowed"));
  if (mode === undefined) refuse("the workspace could not be written");
  return mode === 0o640
    ? []
    : ["modes, owners and times of files cannot be changed, as the kernel hands no calls over"];
}

type Finished = {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Whether it was ended here, at its deadline. */
  readonly isOverdue: boolean;
};

async function finish(process: SandboxProcess): Promise<Finished> {
  process.stdin.end();
  let isOverdue = false;
  const timer = setTimeout(() => {
    isOverdue = true;
    process.kill();
  }, deadlineMs);
  try {
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(process.stdout).text(),
      new Response(process.stderr).text(),
      process.exited,
    ]);
    return { stdout, stderr, exitCode, isOverdue };
  } finally {
    clearTimeout(timer);
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

async function exists(path: string): Promise<boolean> {
  return (await modeOf(path)) !== undefined;
}

async function modeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(unlessMissing);
  return found && found.mode & 0o7777;
}

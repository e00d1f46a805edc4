import { runCommand } from "./command.ts";

/** Why the packages of the lock file are not there, in the package manager's own words. */
export type InstallFailure = { readonly reason: string };

/**
 * Installs exactly what the lock file says, with the Bun that runs this. Instant when nothing is missing; tried twice, since
 * registries hiccup. Answers undefined when all is well.
 */
export async function installWorkspace(root: string): Promise<InstallFailure | undefined> {
  const command = [process.execPath, "install", "--frozen-lockfile"];
  let outcome = await runCommand(command, { cwd: root, timeoutMs: 120_000 });
  if (outcome.exitCode !== 0) outcome = await runCommand(command, { cwd: root, timeoutMs: 120_000 });
  if (outcome.exitCode === 0) return undefined;
  return { reason: outcome.output === "" ? "bun install did not end in two minutes." : outcome.output };
}

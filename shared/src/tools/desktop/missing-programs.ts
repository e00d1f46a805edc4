import { chown, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeOwnedFolder } from "../../machine/process/owned-folder.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";

/** The programs that a display needs, as commands in the sandbox. */
export const displayPrograms: readonly string[] = ["Xvfb", "xdotool"];
const deadlineMs = 10_000;

/** Which of the programs commands of this sandbox cannot find. */
export async function missingPrograms(sandbox: Sandbox, needed: readonly string[]): Promise<readonly string[]> {
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-display");
  const workspace = join(folder, "workspace");
  try {
    await mkdir(workspace);
    if (sandbox.user) await chown(workspace, sandbox.user.uid, sandbox.user.gid);
    const argv = [
      "/bin/bash",
      "-c",
      'for name; do type -P "$name" >/dev/null && echo "$name"; done; :',
      "bash",
      ...needed,
    ];
    const signal = AbortSignal.timeout(2 * deadlineMs);
    const { stdout } = await runCommand(sandbox, { argv, workspace, limits: { wallMs: deadlineMs } }, { signal });
    return needed.filter((name) => !stdout.split("\n").includes(name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../sandbox/run-command.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

const deadlineMs = 10_000;

/** The Python that commands of this sandbox see, with its version; undefined when there is none, and no Python tool then. */
export async function findPython(sandbox: Sandbox): Promise<{ readonly version: string } | undefined> {
  if (sandbox.tier === "none") return undefined;
  const workspace = await mkdtemp(join(tmpdir(), "manyhands-python-"));
  try {
    if (sandbox.user) await chown(workspace, sandbox.user.uid, sandbox.user.gid);
    const argv = ["python3", "-I", "-c", "import platform; print(platform.python_version())"];
    const signal = AbortSignal.timeout(2 * deadlineMs);
    const outcome = await runCommand(sandbox, { argv, workspace, limits: { wallMs: deadlineMs } }, { signal });
    return outcome.exitCode === 0 ? { version: outcome.stdout.trim() } : undefined;
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

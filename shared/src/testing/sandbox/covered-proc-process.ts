/**
 * Starts twice on a machine as a server does, the second time with what the first remembered, and
 * prints how commands are confined and what the script in its argument says there.
 */
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import { openMachine } from "../../server/machine/open-machine.ts";

const settings = { tier: "auto", memoryBytes: undefined, timeoutMs: undefined, allowDomains: [] } as const;
const folder = await mkdtemp(join(tmpdir(), "manyhands-covered-"));
await chmod(folder, 0o755);
try {
  const first = await openMachine(join(folder, "workspaces"), settings);
  await first.kept;
  await first.sandbox.close();
  const { sandbox } = await openMachine(join(folder, "workspaces"), settings);
  const workspace = await mkdtemp(join(folder, "workspaces/own-"));
  if (sandbox.user) await chown(workspace, sandbox.user.uid, sandbox.user.gid);
  const argv = ["bash", "-c", process.argv[2] ?? ""];
  const { stdout, stderr } = await runCommand(sandbox, { argv, workspace }, { signal: AbortSignal.timeout(60_000) });
  await sandbox.close();
  const { tier, profile, description } = sandbox;
  process.stdout.write(JSON.stringify({ tier, profile, description, said: `${stdout}${stderr}` }));
} finally {
  await rm(folder, { recursive: true, force: true });
}

import { createSandbox, type SandboxMode } from "../../machine/confinement/create-sandbox.ts";

/**
 * A server to be killed: starts a long command, with a daemon, in the given sandbox and folder, and
 * reports it.
 */
const [, , mode, folder = "", workspace = "", mark = ""] = process.argv;
const sandbox = await createSandbox({ mode: mode as SandboxMode, folder });
const { stdout } = await sandbox.spawn({
  argv: ["bash", "-c", `setsid -f sleep ${mark}; echo started; sleep ${mark}`],
  workspace,
});
for await (const chunk of stdout) process.stdout.write(chunk);

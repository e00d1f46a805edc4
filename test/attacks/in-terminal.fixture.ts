import { openSync } from "node:fs";
import { dirname } from "node:path";
import { createSandbox } from "../../shared/src/machine/confinement/create-sandbox.ts";
import { runCommand } from "../../shared/src/machine/sandbox/run-command.ts";

/**
 * A server on a terminal: reports whether it, and a command that it runs in the given tier and
 * workspace, can open the terminal.
 */
const [, , tier = "", workspace = ""] = process.argv;
const sandbox = await createSandbox({ mode: tier as "bwrap", folder: dirname(workspace) });
const own = (() => {
  try {
    openSync("/dev/tty", "r+");
    return "terminal";
  } catch {
    return "none";
  }
})();
const argv = ["sh", "-c", "if (: </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi"];
const { stdout } = await runCommand(sandbox, { argv, workspace }, { signal: AbortSignal.timeout(60_000) });
console.log(`server: ${own}, command: ${stdout.trim()}`);
await sandbox.close();

#!/usr/bin/env node
/**
 * The installed command: the system runs on Bun, which is a dependency of the package, so that Node
 * with npm is all that has to be there.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const program = join(dirname(fileURLToPath(import.meta.url)), "../gateway/src/main.js");
const bun = process.versions.bun === undefined ? installedBun() : process.execPath;
if (bun === undefined) {
  process.stderr.write(
    "Bun is not installed beside Manyhands for this machine. Install Manyhands again: npm install manyhands\n",
  );
  process.exit(1);
}
// Killed outright, this process can pass no signal on: the child looks whether it is still there.
const env = { ...process.env, MANYHANDS_LAUNCHER_PID: String(process.pid) };
const child = spawn(bun, [program, ...process.argv.slice(2)], { stdio: "inherit", env });
child.on("error", ({ message }) => {
  process.stderr.write(`Bun cannot be started: ${message}\n`);
  process.exit(1);
});
// What a terminal sends on Ctrl-C reaches the child by itself; once more would mean a second
// Ctrl-C.
const byTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    if (signal === "SIGTERM" || !byTerminal) child.kill(signal);
  });
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

/**
 * Bun's own place for it where its set-up script ran, else the package with the binary for this
 * machine.
 */
function installedBun() {
  const manifest = createRequire(import.meta.url).resolve("bun/package.json");
  const own = join(dirname(manifest), "bin/bun.exe");
  // Before the set-up script has run, this is a few lines that say so.
  if (existsSync(own) && statSync(own).size > 1_000_000) return own;
  const beside = createRequire(manifest);
  for (const name of Object.keys(JSON.parse(readFileSync(manifest, "utf8")).optionalDependencies))
    try {
      const found = join(dirname(beside.resolve(`${name}/package.json`)), "bin/bun");
      if (existsSync(found)) return found;
    } catch {
      // Only those that fit this machine are installed.
    }
  return undefined;
}

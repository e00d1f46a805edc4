/**
 * The entry of every root script, and of the package's command. In a checkout it runs before any
 * dependency is installed, so it imports nothing but set-up, which uses Bun alone; then it becomes
 * the command-line interface, in this same process, which also has the part of set-up that needs
 * packages: a process that looked for them before they were installed does not find them.
 */
import { resolve } from "node:path";
import { installationIn } from "./setup/installation.ts";
import { isWorthTelling, setupTable } from "./setup/report.ts";
import { setUp } from "./setup/setup.ts";
import { setupUsage } from "./setup/usage.ts";

const root = resolve(import.meta.dir, "../..");
const args = process.argv.slice(2);
const say = (line: string) => void process.stderr.write(`${line}\n`);

// Made into one executable, this would start itself for each process it needs, and that one itself,
// without end.
const installation = installationIn(root);
if (installation === undefined) {
  say(
    "Manyhands runs from its own folder, a checkout or the installed package. It cannot be compiled, or copied in part.",
  );
  process.exit(1);
}

const asked = args[0] === "setup";
const system = asked || args[0] === "start" || args[0] === "demo";
if (asked) {
  const refused = setupUsage(args.slice(1));
  if (refused !== undefined) {
    // Help that was asked for is the output; anything else is said beside it.
    (refused.exitCode === 0 ? process.stdout : process.stderr).write(`${refused.text}\n`);
    process.exit(refused.exitCode);
  }
}
// What the package needs came with it: there, only what starts the whole system looks at the
// machine.
if (installation === "checkout" || system) {
  const browser = asked && !args.includes("--quiet");
  const outcome = await setUp({ root, workspace: installation === "checkout", system, browser, say });
  if (browser || isWorthTelling(outcome)) say(setupTable(outcome));
  if (outcome.packages !== undefined) {
    say(`The packages of the lock file could not be installed:\n${outcome.packages.reason}`);
    process.exit(1);
  }
}
if (asked && args.includes("--quiet")) process.exit(0);
if (process.execve === undefined) throw new Error("process.execve is missing: Bun 1.4.4 or newer is needed");
process.execve(process.execPath, [process.execPath, resolve(root, "gateway/src/cli/main.ts"), ...args]);

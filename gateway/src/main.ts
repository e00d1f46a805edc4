/**
 * The entry of every root script. It runs before any dependency is installed, so it imports nothing but set-up, which uses Bun
 * alone; then it becomes the command-line interface, in this same process.
 */
import { resolve } from "node:path";
import { isCheckout } from "./setup/is-checkout.ts";
import { isWorthTelling, setupTable } from "./setup/report.ts";
import { setUp } from "./setup/setup.ts";
import { setupUsage } from "./setup/usage.ts";

const root = resolve(import.meta.dir, "../..");
const args = process.argv.slice(2);
const say = (line: string) => void process.stderr.write(`${line}\n`);

// Made into one executable, this would start itself for each process it needs, and that one itself, without end.
if (!isCheckout(root)) {
  say(
    "Manyhands runs from its own folder, by Bun: `bun manyhands …` there. It cannot be compiled, or installed without it.",
  );
  process.exit(1);
}

const asked = args[0] === "setup";
if (asked) {
  const refused = setupUsage(args.slice(1));
  if (refused !== undefined) {
    say(refused.text);
    process.exit(refused.exitCode);
  }
}
const outcome = await setUp({
  root,
  system: asked || args[0] === "start" || args[0] === "demo",
  browser: asked && !args.includes("--quiet"),
  say,
});
if (asked ? !args.includes("--quiet") || isWorthTelling(outcome) : isWorthTelling(outcome)) say(setupTable(outcome));
if (outcome.packages !== undefined) {
  say(`The packages of the lock file could not be installed:\n${outcome.packages.reason}`);
  process.exit(1);
}
if (asked) process.exit(0);
if (process.execve === undefined) throw new Error("process.execve is missing: Bun 1.4.4 or newer is needed");
process.execve(process.execPath, [process.execPath, resolve(root, "gateway/src/cli/main.ts"), ...args]);

/**
 * Prints the packages of a package manager that set-up would install on Linux, for image builds:
 * `bun gateway/src/setup/list-packages.ts apt-get`. Like set-up, it needs no dependency.
 */
import { type PackageManager, programs } from "./programs.ts";

const manager = process.argv[2] as PackageManager;
const packages = programs.flatMap(({ platforms, packages: by }) =>
  platforms.includes("linux") ? (by[manager] ?? []) : [],
);
if (packages.length === 0) {
  process.stderr.write(`There is no package for ${manager}.\n`);
  process.exit(2);
}
process.stdout.write(`${packages.join(" ")}\n`);

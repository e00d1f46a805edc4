#!/usr/bin/env node
/**
 * Makes a project of the template beside this file: `npm create manyhands NAME`, or
 * `bun create manyhands NAME`.
 */
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const [wanted, ...more] = process.argv.slice(2);
if (wanted === undefined || wanted.startsWith("-") || more.length > 0)
  end("Say which folder the project is to be in: npm create manyhands my-team", wanted === "--help" ? 0 : 2);
const folder = resolve(wanted);
const name = basename(folder).toLowerCase();
if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name))
  end(`${JSON.stringify(basename(folder))} cannot be a project's name: letters, digits, dashes, dots.`, 2);
try {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    end(`${folder} is not empty, and stays as it is. Give the name of a new folder.`, 2);
  cpSync(join(import.meta.dirname, "template"), folder, { recursive: true });
  // Under its own name a registry would leave it out of the package.
  renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "package.json"), "utf8"));
  const dependencies = { ...manifest.dependencies, manyhands: `^${version}` };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, name, dependencies }, undefined, 2)}\n`);
} catch (error) {
  end(`The project cannot be made in ${folder}: ${error instanceof Error ? error.message : error}`, 1);
}
const run = process.versions.bun === undefined ? "npm" : "bun";
process.stdout.write(`Made ${folder}. What now:

  cd ${wanted}
  ${run} install
  ${`${run} test`.padEnd(22)} the agent, on a scripted model
  ${`${run === "npm" ? "npx" : "bunx"} manyhands init`.padEnd(22)} which model to use
  ${`${run} start`.padEnd(22)} the system with your agent, at http://localhost:4100
`);

function end(sentence, exitCode) {
  process.stderr.write(`${sentence}\n`);
  process.exit(exitCode);
}

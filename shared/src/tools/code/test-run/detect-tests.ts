import type { Workspace } from "../../../core/workspace.ts";
import { kindOf, openFile } from "../../../machine/workspace/workspace-file.ts";

type Detected = {
  readonly command: string;
  /** Of tests in another language beside them, which the command does not run. */
  readonly note: string;
};

/** A script that runs tests in Python too, or has another program do so. */
const runsPython = /"test"\s*:\s*"[^"]*(?:python|pytest|unittest|tox|nox|make)/;

/**
 * The command that runs the tests of the project in this folder, according to its files; undefined
 * when they do not identify one.
 */
export async function detectTests(
  workspace: Workspace,
  folder: string,
  paths: readonly string[],
): Promise<Detected | undefined> {
  const has = async (name: string) => (await kindOf(workspace, `${folder}/${name}`)) === "file";
  const tests = paths
    .map((path) => path.replace(/^\.\//, "").slice(folder === "." ? 0 : folder.replace(/^\.\//, "").length + 1))
    .filter((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path));
  const [first] = tests;
  const about = (await has("package.json")) ? await fileText(workspace, `${folder}/package.json`) : undefined;
  const command = (await commandOf(about, has)) ?? (await makeTests(workspace, folder, has));
  if (command === undefined)
    return first === undefined ? undefined : { command: await pythonTests(workspace, folder, tests, has), note: "" };
  const isSilent = first === undefined || runsPython.test(about ?? "");
  return {
    command,
    note: isSilent ? "" : `Not run: the tests in Python, such as ${first}. Give the command for them.`,
  };
}

async function commandOf(
  about: string | undefined,
  has: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  if (await has("Cargo.toml")) return "cargo test";
  if (await has("go.mod")) return "go test -v ./...";
  if (about === undefined) return undefined;
  const bun = (await has("bun.lock")) || (await has("bunfig.toml"));
  if (/"test"\s*:/.test(about)) return bun ? "bun run test" : "npm test";
  return bun ? "bun test" : "node --test";
}

/** By the first target `test` or `check` of a makefile. */
async function makeTests(
  workspace: Workspace,
  folder: string,
  has: (name: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const name of ["GNUmakefile", "makefile", "Makefile"]) {
    if (!(await has(name))) continue;
    const [, target] = /^(test|check)[ \t]*::?(?!=)/m.exec(await fileText(workspace, `${folder}/${name}`)) ?? [];
    return target === undefined ? undefined : `make ${target}`;
  }
  return undefined;
}

/**
 * pytest where it is installed. unittest searches folders that are not packages only when they are
 * named.
 */
async function pythonTests(
  workspace: Workspace,
  folder: string,
  tests: readonly string[],
  has: (name: string) => Promise<boolean>,
): Promise<string> {
  const top = tests[0]?.includes("/") ? (tests[0].split("/")[0] ?? "") : "";
  const apart =
    /^[\w-]+$/.test(top) && tests.every((path) => path.startsWith(`${top}/`)) && !(await has(`${top}/__init__.py`));
  const unittest = `python3 -m unittest discover${apart ? ` -s ${top}` : ""}`;
  return `export PYTHONPATH="$PWD/src:$PWD"; if python3 -c 'import pytest' 2>/dev/null; then python3 -m pytest -q -p no:cacheprovider; else echo '${await withoutPytest(workspace, folder, tests)}'; ${unittest}; fi`;
}

/** What unittest does not run: functions, classes without a base, what uses pytest. */
const forPytest = /^(?:async )?def test|^class Test\w*(?:\(\))?:|^[^\S\n]*(?:import|from) pytest\b/m;

async function withoutPytest(workspace: Workspace, folder: string, tests: readonly string[]): Promise<string> {
  for (const path of tests) {
    // A link that leads outside is no test here.
    if (forPytest.test(await fileText(workspace, `${folder}/${path}`).catch(() => "")))
      return `pytest is not installed here: tests written for it, such as ${path.replace(/[^\w./-]/g, "?")}, are not run.`;
  }
  return "Run by unittest.";
}

/** Of the command that leaves the choice to the shell, what was run. */
export function chosenCommand(command: string, stdout: string): string {
  const [, pytest, said, unittest] = /; then (.*); else echo '(.*?)'; (.*); fi$/.exec(command) ?? [];
  return (said !== undefined && stdout.includes(said) ? unittest : pytest) ?? command;
}

async function fileText(workspace: Workspace, path: string): Promise<string> {
  await using file = await openFile(workspace, path);
  return (await file.read(1_000_000))?.toString("utf8") ?? "";
}

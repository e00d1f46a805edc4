import type { Workspace } from "../../core/workspace.ts";
import { kindOf, openFile } from "../../machine/workspace/workspace-file.ts";

/** The command that runs the tests of the project in this folder, by the files it has; undefined when they tell nothing. */
export async function detectTests(
  workspace: Workspace,
  folder: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const has = async (name: string) => (await kindOf(workspace, `${folder}/${name}`)) === "file";
  if (await has("Cargo.toml")) return "cargo test";
  if (await has("go.mod")) return "go test -v ./...";
  if (await has("package.json")) {
    const bun = (await has("bun.lock")) || (await has("bunfig.toml"));
    if (/"test"\s*:/.test(await textOf(workspace, `${folder}/package.json`))) return bun ? "bun run test" : "npm test";
    return bun ? "bun test" : "node --test";
  }
  const tests = paths
    .map((path) => path.replace(/^\.\//, "").slice(folder === "." ? 0 : folder.replace(/^\.\//, "").length + 1))
    .filter((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path));
  return tests.length === 0 ? undefined : await pythonTests(tests, has);
}

/** pytest where it is installed. unittest looks into folders that are no packages only when they are named. */
async function pythonTests(tests: readonly string[], has: (name: string) => Promise<boolean>): Promise<string> {
  const top = tests[0]?.includes("/") ? (tests[0].split("/")[0] ?? "") : "";
  const apart =
    /^[\w-]+$/.test(top) && tests.every((path) => path.startsWith(`${top}/`)) && !(await has(`${top}/__init__.py`));
  const unittest = `python3 -m unittest discover${apart ? ` -s ${top}` : ""}`;
  return `export PYTHONPATH="$PWD/src:$PWD"; if python3 -c 'import pytest' 2>/dev/null; then python3 -m pytest -q -p no:cacheprovider; else echo 'pytest is not installed here: only tests written for unittest are run.'; ${unittest}; fi`;
}

async function textOf(workspace: Workspace, path: string): Promise<string> {
  await using file = await openFile(workspace, path);
  return file.stats.size > 1_000_000 ? "" : await file.handle.readFile("utf8");
}

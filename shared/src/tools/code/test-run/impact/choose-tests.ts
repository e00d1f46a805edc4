import { AppError } from "../../../../core/errors.ts";
import type { ToolContext } from "../../../../core/tools/tool.ts";
import { openFile } from "../../../../machine/workspace/workspace-file.ts";
import { changedFiles } from "../../checkpoints/changed-files.ts";
import { affectedTests } from "./affected-tests.ts";
import { hasImports } from "./imports.ts";

/** Which tests to run, with a sentence on the choice; no command: run what would run anyway. */
export type TestChoice = { readonly command?: string; readonly none?: true; readonly note: string };

const maxFiles = 5_000;
const largest = 500_000;

/**
 * Chooses the tests that the changes since the files arrived can reach. `command` is what runs all
 * tests; where it takes no files, all are run and the note says so.
 */
export async function chooseTests(
  { folder, paths, command }: { readonly folder: string; readonly paths: readonly string[]; readonly command: string },
  { workspace, signal }: ToolContext,
): Promise<TestChoice> {
  const root = folder.replace(/^\.\//, "");
  const inAll = (why: string): TestChoice => ({ note: `All tests were run: ${why}.` });
  const changed = await changedFiles(workspace, root);
  if (changed === undefined) return inAll("nothing arrived here that the files could be compared with");
  if (changed.length === 0) return { none: true, note: "No file differs from what arrived, so no test is affected." };
  const readable = paths.filter(hasImports);
  if (readable.length > maxFiles) return inAll(`there are more than ${maxFiles} files`);
  const texts = new Map<string, string>();
  for (const path of readable) {
    signal.throwIfAborted();
    texts.set(path, await textOf(path, workspace));
  }
  const affected = affectedTests(changed, texts, root);
  if (affected.tests === undefined) return inAll(affected.why);
  const { tests, all } = affected;
  const count = `${tests.length} of ${all} test files can be reached from the ${changed.length} changed`;
  if (tests.length === 0) return { none: true, note: `${count}: no test covers the change.` };
  const files = tests.map((path) => quotedPath(root === "." ? path : path.slice(root.length + 1)));
  const chosen = withFiles(command, files);
  return chosen === undefined ? inAll("its command takes no files") : { command: chosen, note: `${count}.` };
}

/** A command for these files alone, for the runners whose arguments are known. */
function withFiles(command: string, files: readonly string[]): string | undefined {
  const list = files.join(" ");
  if (command === "bun test" || command === "node --test") return `${command} ${list}`;
  if (command === "npm test" || command === "bun run test") return `${command} -- ${list}`;
  if (!command.includes("python3 -m unittest discover")) return undefined;
  return command
    .replace("python3 -m pytest -q", `python3 -m pytest -q ${list}`)
    .replace(/python3 -m unittest discover(?: -s [\w-]+)?/, `python3 -m unittest ${list}`);
}

/** One word for a shell. */
function quotedPath(path: string): string {
  return `'./${path.replaceAll("'", "'\\''")}'`;
}

async function textOf(path: string, workspace: ToolContext["workspace"]): Promise<string> {
  try {
    await using file = await openFile(workspace, path);
    return (await file.read(largest))?.toString("utf8") ?? "";
  } catch (error) {
    if (error instanceof AppError) return "";
    throw error;
  }
}

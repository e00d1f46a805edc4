import * as z from "zod";
import { defineTool } from "../../../core/tools/define-tool.ts";
import { failure, type Tool, type ToolContext, type ToolResult } from "../../../core/tools/tool.ts";
import { runCommand } from "../../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { fitsGlob, listCodeFiles, relativePath, unsearched } from "./list-code-files.ts";

const searchMs = 30_000;
const longestLine = 300;
const maxInFile = 100;

const input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .refine((text) => !text.includes("\0"), "must not contain NUL")
    .describe("A ripgrep regular expression, or plain text with literal: true."),
  path: z.string().default(".").describe("The folder or file to search."),
  glob: z.string().min(1).optional().describe("Only files that match, such as *.py or src/**/*.ts."),
  literal: z.boolean().default(false).describe("Takes the pattern as plain text."),
  ignore_case: z.boolean().default(false),
  context: z.int().min(0).max(10).default(0).describe("Lines before and after each match."),
  max_results: z.int().min(1).max(500).default(100).describe("Total lines shown."),
});

type SearchInput = z.output<typeof input>;

/** The `search` tool: ripgrep inside the sandbox. Must not be created on tier `none`. */
export function searchTool({ sandbox }: { readonly sandbox: Sandbox }): Tool {
  return defineTool({
    name: "search",
    description:
      "Searches the workspace's files for a regular expression and shows matching lines with their numbers, by file. Skips binary files and what .gitignore names.",
    input,
    effect: "pure",
    run: (given, context) => search(sandbox, given, context),
  });
}

async function search(sandbox: Sandbox, given: SearchInput, context: ToolContext): Promise<ToolResult> {
  const { workspace, signal } = context;
  const path = await relativePath(workspace, given.path);
  const among = given.glob === undefined ? undefined : await listCodeFiles(sandbox, context, { path });
  const files = given.glob === undefined ? undefined : among?.paths.filter(fitsGlob(given.glob));
  if (files?.length === 0) return failure(`No file below ${given.path} matches the glob ${given.glob}.`);
  const rg = ["rg", ...switchesOf(given), "--", given.pattern];
  // Ignore files do not apply to explicitly named files, so ripgrep itself has listed these.
  const argv = files === undefined ? [...rg, path] : ["xargs", "-0", ...rg];
  const outcome = await runCommand(
    sandbox,
    { argv, workspace: workspace.root, limits: { wallMs: searchMs } },
    { signal, ...(files && { input: files.join("\0") }) },
  );
  const problem = outcome.stderr.trim();
  if (outcome.stdout === "") {
    if (problem !== "") return failure(problem.replaceAll("rg: ", ""));
    if (outcome.limit !== undefined) return failure(`The search was stopped at its limit: ${outcome.limit}.`);
    return { text: "No matches.", isError: false };
  }
  const notes = [
    outcome.limit === undefined ? "" : `[stopped at its limit: ${outcome.limit}]`,
    among?.complete === false ? "[there were too many files to search them all]" : "",
  ];
  return { text: [bounded(outcome.stdout, given.max_results), ...notes].filter(Boolean).join("\n"), isError: false };
}

function switchesOf({ literal, ignore_case: ignoreCase, context }: SearchInput): string[] {
  return [
    "--heading",
    "--with-filename",
    "--line-number",
    "--color=never",
    "--sort=path",
    `--max-count=${maxInFile}`,
    `--max-columns=${longestLine}`,
    "--max-columns-preview",
    `--context=${context}`,
    ...(literal ? ["--fixed-strings"] : []),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...unsearched,
  ];
}

function bounded(output: string, most: number): string {
  const lines = output.trimEnd().replace(/^\.\//gm, "").split("\n");
  const isResult = (line: string) => /^\d+[:-]/.test(line);
  let results = 0;
  const end = lines.findIndex((line) => isResult(line) && ++results > most);
  if (end === -1) return lines.join("\n");
  const left = lines.slice(end).filter(isResult).length;
  return `${lines.slice(0, end).join("\n").trimEnd()}\n[at least ${left} more lines; make the search narrower]`;
}

import { AppError } from "../../../core/errors.ts";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import { findProblems } from "./find-problems.ts";

const maxFiles = 5;
const maxLines = 8;
const longestLine = 200;
const largest = 512 * 1024;

/**
 * The tool, with its result extended by what the language's own checker finds in the files it
 * changed. `edited` returns the paths that an input is about. Only problems that an edit introduced
 * are shown; earlier ones are counted. Never makes a call fail.
 */
export function withDiagnostics(
  tool: Tool,
  { sandbox, edited }: { readonly sandbox: Sandbox; readonly edited: (input: unknown) => readonly string[] },
): Tool {
  return {
    ...tool,
    async call(input, context) {
      const paths = tool.effect(input) === "pure" ? [] : [...new Set(edited(input))].slice(0, maxFiles);
      const before = await Promise.all(paths.map((path) => fileText(path, context)));
      const result = await tool.call(input, context);
      if (result.isError) return result;
      const notes = await Promise.all(paths.map((path, index) => noteOn(path, before[index], sandbox, context)));
      return { ...result, text: [result.text, ...notes.filter((note) => note !== "")].join("\n") };
    },
  };
}

async function noteOn(path: string, before: string | undefined, sandbox: Sandbox, context: ToolContext) {
  const text = await fileText(path, context);
  if (text === undefined || text === before) return "";
  const checked = { path, sandbox, workspace: context.workspace, signal: context.signal };
  const now = await findProblems({ ...checked, text });
  if (now.length === 0) return "";
  const old = before === undefined ? [] : await findProblems({ ...checked, text: before });
  const known = new Set(old.map(withoutPlace));
  const fresh = now.filter((line) => !known.has(withoutPlace(line)));
  if (fresh.length === 0) return `Diagnostics: ${path} was broken before this edit already: ${shortened(now[0] ?? "")}`;
  const more = fresh.length - maxLines;
  return [
    `Diagnostics: ${path} has problems since this edit${old.length > 0 ? ", beside those of before" : ""}:`,
    ...fresh.slice(0, maxLines).map((line) => `- ${shortened(line)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join("\n");
}

/** The problem without its place, because an edit moves the problems that were there. */
function withoutPlace(problem: string): string {
  return problem.replaceAll(/\d+/g, "");
}

function shortened(line: string): string {
  return line.length <= longestLine ? line : `${line.slice(0, longestLine)}…`;
}

/** The text of a file; undefined when it is missing, too large, or not text. */
async function fileText(path: string, { workspace }: ToolContext): Promise<string | undefined> {
  try {
    await using file = await openFile(workspace, path);
    const content = await file.read(largest);
    return content && new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch (error) {
    if (error instanceof AppError || error instanceof TypeError) return undefined;
    throw error;
  }
}

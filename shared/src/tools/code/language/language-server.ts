import { join, relative } from "node:path";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { openFile, workspacePathOf } from "../../../machine/workspace/workspace-file.ts";
import { askServer, type Problem, type SourcePosition } from "./ask-server.ts";
import { projectFolder } from "./project-folder.ts";
import { languageOf } from "./servers.ts";

const input = z.strictObject({
  command: z.enum(["definition", "references", "diagnostics"]),
  path: z.string().min(1).describe("The file."),
  line: z.int().min(1).optional().describe("Where the symbol is used or defined, unless for diagnostics."),
  symbol: z.string().min(1).max(300).optional().describe("Its name, as on that line."),
});

type LanguageInput = z.output<typeof input>;

const description = `Asks the language server (TypeScript, JavaScript, Python, Go, Rust, C, C++; where installed) where a symbol is defined,
everywhere it is used, or which errors a file has by its types.`;

const spokenOf =
  /\b(?:definitions?|references?|usages?|used|callers?|calls|renam\w+|refactor\w*|types?|diagnostics)\b/i;
const most = 100;
const largest = 2_000_000;

/** The `language_server` tool: a server of the project's language, in the sandbox. */
export function languageServerTool({ sandbox }: { readonly sandbox: Sandbox }): Tool {
  return defineTool({
    name: "language_server",
    family: languageFamily,
    description: description.replaceAll("\n", " "),
    input,
    effect: "pure",
    neededFor: (text, from) => from === "user" && spokenOf.test(text),
    run: (given, context) => asked(given, context, sandbox),
  });
}

/** Opened once a map of the code was asked for, or the user speaks of what it answers. */
export const languageFamily = "language";

async function asked(given: LanguageInput, { workspace, signal }: ToolContext, sandbox: Sandbox): Promise<string> {
  const language = languageOf(given.path);
  if (language === undefined) throw new AppError("unsupported", `There is no language server for ${given.path}.`);
  const { relative: path } = await workspacePathOf(workspace, given.path);
  const text = await textOf(path, workspace);
  const folder = join(workspace.root, await projectFolder(workspace, path));
  const question = { language, workspace: workspace.root, folder, file: join(workspace.root, path), text };
  if (given.command === "diagnostics") {
    const problems = await askServer(question, { sandbox, signal }, (answers) => answers.problems());
    return problemsText(problems, path);
  }
  const at = whereIs(given, text);
  const { command } = given;
  const places = await askServer(question, { sandbox, signal }, (answers) => answers.places(command, at));
  return placesText(places, given, workspace);
}

/** The first place of the symbol on its line. */
function whereIs({ line, symbol, path }: LanguageInput, text: string): Omit<SourcePosition, "path"> {
  if (line === undefined || symbol === undefined)
    throw new AppError("invalid_input", "Give the line and the symbol on it.");
  const content = text.split("\n")[line - 1];
  const word = /^\w+$/.test(symbol) ? new RegExp(`(?<!\\w)${symbol}(?!\\w)`) : undefined;
  const column = word === undefined ? (content?.indexOf(symbol) ?? -1) : (content?.search(word) ?? -1);
  if (content === undefined || column < 0)
    throw new AppError(
      "invalid_input",
      `${symbol} is not on line ${line} of ${path}, which is: ${content ?? "past its end"}`,
    );
  return { line: line - 1, column };
}

async function placesText(
  places: readonly SourcePosition[],
  given: LanguageInput,
  workspace: Workspace,
): Promise<string> {
  if (places.length === 0) return `The language server knows no ${given.command} of ${given.symbol} there.`;
  const texts = new Map<string, readonly string[]>();
  const lines: string[] = [];
  for (const { path, line, column } of places.slice(0, most)) {
    const inside = relative(workspace.root, path);
    if (inside === ".." || inside.startsWith("../")) {
      lines.push(`${path}:${line + 1}:${column + 1}`);
      continue;
    }
    const known = texts.get(inside) ?? (await textOf(inside, workspace).catch(() => "")).split("\n");
    texts.set(inside, known);
    lines.push(`${inside}:${line + 1}:${column + 1}: ${sanitizeLine(known[line] ?? "", 160)}`);
  }
  return [...lines, ...(places.length > most ? [`and ${places.length - most} more`] : [])].join("\n");
}

function problemsText(problems: readonly Problem[], path: string): string {
  if (problems.length === 0) return `The language server finds no error in ${path}.`;
  const lines = problems.slice(0, most).map(({ line, column, severity, message }) => {
    return `${path}:${line + 1}:${column + 1}: ${severity}: ${sanitizeLine(message, 400)}`;
  });
  return [...lines, ...(problems.length > most ? [`and ${problems.length - most} more`] : [])].join("\n");
}

async function textOf(path: string, workspace: Workspace): Promise<string> {
  await using file = await openFile(workspace, path);
  const content = await file.read(largest);
  if (content === undefined) throw new AppError("too_large", `${path} is too large for a language server.`);
  return content.toString("utf8");
}

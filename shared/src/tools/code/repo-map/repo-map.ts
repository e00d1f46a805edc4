import { extname } from "node:path";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import { languageFamily } from "../language/language-server.ts";
import { listCodeFiles, relativePath } from "../search/list-code-files.ts";
import { grammarOf } from "./grammars.ts";
import { mapFiles } from "./map-files.ts";
import { renderMap } from "./render-map.ts";

const maxFiles = 2000;
const largestFile = 300_000;
const maxCharacters = 15_000_000;

const input = z.strictObject({
  path: z.string().default(".").describe("The folder or file to map."),
  tokens: z.int().min(200).max(20_000).default(2000).describe("The map's approximate size."),
});

const description = `An overview of the code: files with their classes, functions and types and the lines they start at, most used first. For
TypeScript, JavaScript, Python, Go, Rust, Java, C, C++, C#, Ruby and PHP; what .gitignore names is left out. Made from the current files.`;

/** The `repo_map` tool. Must not be created on tier `none`, where files cannot be listed. */
export function repoMapTool({ sandbox }: { readonly sandbox: Sandbox }): Tool {
  return defineTool({
    name: "repo_map",
    opens: languageFamily,
    description: description.replaceAll("\n", " "),
    input,
    effect: "pure",
    async run({ path, tokens }, context) {
      const { paths, complete } = await listCodeFiles(sandbox, context, {
        path: await relativePath(context.workspace, path),
      });
      const known = paths.filter((each) => grammarOf[extname(each).toLowerCase()] !== undefined);
      const { files, all } = await readAll(known, context);
      const mapped = await mapFiles(files, context.signal);
      const notes = [
        othersNote(paths.filter((each) => !known.includes(each))),
        complete && all && mapped.length === files.length
          ? ""
          : "[there was too much code to map all of it; give a folder as path]",
      ];
      const map = renderMap(mapped, tokens) || `No definitions were found below ${path}.`;
      return [map, ...notes.filter((note) => note !== "")].join("\n");
    },
  });
}

async function readAll(paths: readonly string[], { workspace, signal }: ToolContext) {
  const files: { path: string; text: string }[] = [];
  let left = maxCharacters;
  for (const path of paths.slice(0, maxFiles)) {
    signal.throwIfAborted();
    const text = await fileText(path, workspace);
    if (text === undefined) continue;
    left -= text.length;
    if (left < 0) return { files, all: false };
    files.push({ path, text });
  }
  return { files, all: paths.length <= maxFiles };
}

async function fileText(path: string, workspace: ToolContext["workspace"]): Promise<string | undefined> {
  try {
    await using file = await openFile(workspace, path);
    return (await file.read(largestFile))?.toString("utf8");
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** A note about files in other languages, counted by kind. */
function othersNote(paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const counts = new Map<string, number>();
  for (const path of paths) {
    const kind = extname(path) || "no extension";
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`);
  return `[other files: ${kinds.slice(0, 8).join(", ")}${kinds.length > 8 ? " …" : ""}]`;
}

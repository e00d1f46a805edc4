import * as z from "zod";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { fitsGlob, listCodeFiles, relativePath } from "./list-code-files.ts";

const shown = 200;

const input = z.strictObject({
  pattern: z.string().min(1).describe("A glob such as *.py (any folder), src/**/*.ts or **/test_*.{py,txt}."),
  path: z.string().default(".").describe("The folder to look in; the pattern still matches paths from the workspace."),
});

/** The `glob` tool: lists files. Must not be created on tier `none`. */
export function globTool({ sandbox }: { readonly sandbox: Sandbox }): Tool {
  return defineTool({
    name: "glob",
    description: "Finds workspace files by a glob pattern, last changed first. Skips what .gitignore names.",
    input,
    effect: "pure",
    async run({ pattern, path }, context) {
      const files = await listCodeFiles(sandbox, context, {
        path: await relativePath(context.workspace, path),
        newest: true,
      });
      const found = files.paths.filter(fitsGlob(pattern));
      if (found.length === 0)
        return `No file matches ${pattern}${files.complete ? "" : " among the first ones listed"}.`;
      const left = found.length - shown;
      const notes = [
        left > 0 ? `[${left} more files; make the pattern narrower]` : "",
        files.complete ? "" : "[there were too many files to list them all]",
      ];
      return [...found.slice(0, shown), ...notes.filter((note) => note !== "")].join("\n");
    },
  });
}

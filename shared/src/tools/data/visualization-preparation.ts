import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { holdFolder } from "../../machine/workspace/held-folder.ts";
import { ownerOf, workspacePathOf } from "../../machine/workspace/workspace-file.ts";

const input = z.strictObject({
  code_type: z
    .enum(["visualization", "insight"])
    .describe("Which of the two JSON files of data_visualization the code writes."),
  code: z
    .string()
    .min(1)
    .describe("A Python program that writes the CSV and JSON files and prints the JSON file's path."),
});

const shapes = {
  visualization: '[{"csvFilePath": "…", "chartTitle": "…", "chart": "line", "x": "…", "y": "…"}]',
  insight: '[{"chartPath": "…", "insights_id": [1]}]',
};

const description = `Runs Python code that prepares what data_visualization needs: cleaned CSV files and the JSON file that lists the charts
(${shapes.visualization}) or the findings to show in them (${shapes.insight}). The code writes the JSON file into the folder .manyhands, which is not handed to the user, and prints its path.`;

/** Creates the folders for data and for the list of charts, so that the code can write there. */
async function openFolders(workspace: Workspace): Promise<void> {
  for (const name of ["visualization", ".manyhands"]) {
    const { folders, name: last } = await workspacePathOf(workspace, name);
    await using _ = await holdFolder(workspace.root, [...folders, last], await ownerOf(workspace));
  }
}

/** The `visualization_preparation` tool, over the `python_execute` tool of this machine. */
export function visualizationPreparation({ python }: { readonly python: Tool }): Tool {
  return defineTool({
    name: "visualization_preparation",
    description: description.replaceAll("\n", " "),
    input,
    effect: "once",
    async run({ code, code_type }, context) {
      await openFolders(context.workspace);
      const result = await python.call({ code }, context);
      if (result.isError || result.text.includes(".json")) return result;
      const missing = `[no path of a JSON file was printed; data_visualization needs one that holds ${shapes[code_type]}]`;
      return { ...result, text: `${result.text}\n${missing}` };
    },
  });
}

import * as z from "zod";

/**
 * What the model may ask of the editor. Which fields a command needs is checked when it is carried
 * out.
 */
export const editorInput = z.strictObject({
  command: z.enum(["view", "create", "str_replace", "insert", "undo_edit"]).describe("What to do."),
  path: z.string().describe("The file, or for view also a folder; relative to the workspace, or absolute."),
  file_text: z.string().optional().describe("create: the whole content."),
  overwrite: z
    .boolean()
    .default(false)
    .describe("create: true replaces a file that is there; undo_edit brings it back."),
  old_str: z
    .string()
    .optional()
    .describe(
      "str_replace: the text to replace, exactly as it stands in the file, with enough around it to be there only once.",
    ),
  new_str: z
    .string()
    .optional()
    .describe("str_replace: what stands there afterwards; left out, the text is deleted. insert: the new lines."),
  insert_line: z
    .int()
    .optional()
    .describe("insert: the number of the line after which the new lines go; 0 for the top."),
  view_range: z
    .array(z.int())
    .optional()
    .describe(
      "view: first and last line to show, counted from 1; -1 as the last means to the end. Left out, all lines.",
    ),
});

export type EditorInput = z.output<typeof editorInput>;

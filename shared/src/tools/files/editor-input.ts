import * as z from "zod";

/** The model's input to the editor. Which fields a command needs is checked when it is executed. */
export const editorInput = z.strictObject({
  command: z.enum(["view", "create", "str_replace", "insert", "undo_edit"]).describe("What to do."),
  path: z.string().describe("The file (for view also a folder), relative to the workspace or absolute."),
  file_text: z.string().optional().describe("create: the file's content."),
  overwrite: z.boolean().default(false).describe("create: true replaces an existing file; undo_edit restores it."),
  old_str: z
    .string()
    .optional()
    .describe("str_replace: the text to replace, exactly as in the file, with enough around it to be unique."),
  new_str: z
    .string()
    .optional()
    .describe("str_replace: the replacement; left out, the text is deleted. insert: the new lines."),
  insert_line: z.int().optional().describe("insert: the line after which the new lines go; 0 for the top."),
  view_range: z
    .array(z.int())
    .optional()
    .describe("view: first and last line to show, counted from 1; a last line of -1 means the end. Default: all."),
});

export type EditorInput = z.output<typeof editorInput>;

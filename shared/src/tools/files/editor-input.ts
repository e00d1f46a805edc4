import * as z from "zod";

/** The model's input to the editor. Which fields a command needs is checked when it is executed. */
export const editorInput = z.strictObject({
  command: z.enum(["view", "create", "str_replace", "insert", "undo_edit"]),
  path: z.string(),
  file_text: z.string().optional(),
  overwrite: z.boolean().default(false),
  old_str: z.string().optional(),
  new_str: z.string().optional(),
  insert_line: z.int().optional().describe("0 for the top."),
  view_range: z.array(z.int()).optional().describe("First and last line, from 1; -1 is the end."),
});

/** A checked call of the editor. */
export type EditorInput = z.output<typeof editorInput>;

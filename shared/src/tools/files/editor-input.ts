import * as z from "zod";

/** What the model may ask of the editor. Which fields a command needs is checked when it is carried out. */
export const editorInput = z.strictObject({
  command: z
    .enum(["view", "create", "str_replace", "insert", "undo_edit"])
    .describe("The commands to run. Allowed options are: `view`, `create`, `str_replace`, `insert`, `undo_edit`."),
  path: z.string().describe("Path to file or directory, relative to the workspace or absolute."),
  file_text: z
    .string()
    .optional()
    .describe("Required parameter of `create` command, with the content of the file to be created."),
  old_str: z
    .string()
    .optional()
    .describe("Required parameter of `str_replace` command containing the string in `path` to replace."),
  new_str: z
    .string()
    .optional()
    .describe(
      "Optional parameter of `str_replace` command containing the new string (if not given, no string will be added). Required parameter of `insert` command containing the string to insert.",
    ),
  insert_line: z
    .int()
    .optional()
    .describe(
      "Required parameter of `insert` command. The `new_str` will be inserted AFTER the line `insert_line` of `path`.",
    ),
  view_range: z
    .array(z.int())
    .optional()
    .describe(
      "Optional parameter of `view` command when `path` points to a file. If none is given, the full file is shown. If provided, the file will be shown in the indicated line number range, e.g. [11, 12] will show lines 11 and 12. Indexing at 1 to start. Setting `[start_line, -1]` shows all lines from `start_line` to the end of the file.",
    ),
});

export type EditorInput = z.output<typeof editorInput>;

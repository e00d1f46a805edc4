import * as z from "zod";

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const formats = z.record(z.string(), z.string());

/** The input of the process that makes a workbook. */
export const workbookRequest = z.strictObject({
  sheets: z.array(
    z.union([
      z.strictObject({ name: z.string(), formats, rows: z.array(z.array(cell)) }),
      // The content of a file, and what it is called in an error.
      z.strictObject({ name: z.string(), formats, csv: z.string(), path: z.string() }),
    ]),
  ),
  /** Whether a page of its first cells is wanted. */
  page: z.boolean(),
});

/** Its response: the workbook as base64, what it holds in words, and the page. */
export const workbookReply = z.union([
  z.strictObject({ ok: z.literal(true), content: z.base64(), told: z.string(), page: z.string() }),
  z.strictObject({
    ok: z.literal(false),
    code: z.enum(["forbidden", "internal", "invalid_input", "too_large", "unsupported"]),
    message: z.string(),
  }),
]);

/** What is to become a workbook. */
export type WorkbookRequest = z.output<typeof workbookRequest>;

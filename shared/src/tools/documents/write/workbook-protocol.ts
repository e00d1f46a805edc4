import * as z from "zod";

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const formats = z.record(z.string(), z.string());

/** A chart of a sheet: ranges of cells, such as `B2:B13` or `'Sheet 2'!B2:B13`. */
export const sheetChart = z.strictObject({
  kind: z.enum(["column", "bar", "line", "pie", "scatter"], {
    error: "A workbook has column, bar, line, pie and scatter charts; vega-lite in .docx, .pdf or .html draws others.",
  }),
  title: z.string().min(1).max(300).optional(),
  x: z.string(),
  y: z.array(z.string()).min(1).max(20),
  xTitle: z.string().min(1).max(300).optional(),
  yTitle: z.string().min(1).max(300).optional(),
});

/** A chart as a model writes it. */
export type ChartToWrite = z.output<typeof sheetChart>;

const charts = z.array(sheetChart).max(20).optional();

/** The input of the process that makes a workbook. */
export const workbookRequest = z.strictObject({
  sheets: z.array(
    z.union([
      z.strictObject({ name: z.string(), formats, charts, rows: z.array(z.array(cell)) }),
      // The content of a file, and what it is called in an error.
      z.strictObject({ name: z.string(), formats, charts, csv: z.string(), path: z.string() }),
    ]),
  ),
  /** Whether a page of its first cells is wanted. */
  page: z.boolean(),
});

/** How much of a workbook its page shows at most. */
export const sheetPageBounds = { sheets: 3, rows: 20, columns: 8 };

/** What the page of a workbook shows, in words. */
export const sheetPageShows = `of its cells as read back, as tables (at most ${sheetPageBounds.rows} rows and ${sheetPageBounds.columns} columns of the first ${sheetPageBounds.sheets} sheets; long cells are cut, charts not drawn); a spreadsheet program draws them in its own way`;

/** Its result: the workbook as base64, what it holds in words, and the page. */
export const writtenWorkbook = z.strictObject({ content: z.base64(), told: z.string(), page: z.string() });

/** What is to become a workbook. */
export type WorkbookRequest = z.output<typeof workbookRequest>;

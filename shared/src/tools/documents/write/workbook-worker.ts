import { AppError } from "../../../core/errors.ts";
import { csvRows } from "./csv-rows.ts";
import { makeWorkbook } from "./make-workbook.ts";
import { sheetPage } from "./sheet-page.ts";
import { type WorkbookRequest, workbookRequest } from "./workbook-protocol.ts";

/** Started by `writeWorkbook`: makes a workbook of the sheets on its standard input, and ends. */

const request = workbookRequest.parse(JSON.parse(await Bun.stdin.text()));
const reply = await made(request).catch((error: unknown) => {
  if (!(error instanceof AppError)) throw error;
  return { ok: false, code: error.code, message: error.message };
});
await Bun.write(Bun.stdout, JSON.stringify(reply));
process.exit(0);

async function made({ sheets, page }: WorkbookRequest) {
  const { content, told } = await makeWorkbook(
    sheets.map((sheet) =>
      "csv" in sheet ? { ...sheet, rows: csvRows(sheet.csv, sheet.path), plain: true } : { ...sheet, plain: false },
    ),
  );
  const base64 = Buffer.from(content).toString("base64");
  return { ok: true, content: base64, told, page: page ? await sheetPage(content) : "" };
}

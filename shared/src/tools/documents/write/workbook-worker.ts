import { replyOf } from "../../../machine/process/own-script-reply.ts";
import { csvRows } from "./csv-rows.ts";
import { makeWorkbook } from "./make-workbook.ts";
import { sheetPage } from "./sheet-page.ts";
import { workbookRequest } from "./workbook-protocol.ts";

/** Started by `writeWorkbook`: makes a workbook of the sheets on its standard input, and ends. */

const { sheets, page } = workbookRequest.parse(await Bun.stdin.json());
await replyOf(async () => {
  const { content, told } = await makeWorkbook(
    sheets.map((sheet) =>
      "csv" in sheet ? { ...sheet, rows: csvRows(sheet.csv, sheet.path), plain: true } : { ...sheet, plain: false },
    ),
  );
  const base64 = Buffer.from(content).toString("base64");
  return { content: base64, told, page: page ? await sheetPage(content) : "" };
});

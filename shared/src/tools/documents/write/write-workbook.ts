import { resolve } from "node:path";
import { runOwnScript } from "../../../machine/process/run-own-script.ts";
import { type WorkbookRequest, writtenWorkbook } from "./workbook-protocol.ts";

const deadlineMs = 60_000;
const memoryBytes = 2 * 2 ** 30;

/** A workbook that was made and read back. */
type WrittenWorkbook = { readonly content: Uint8Array; readonly told: string; readonly page: string };

/**
 * A workbook (.xlsx) of these sheets, made in a separate process: millions of cells, which a small
 * CSV file can have, take seconds and gigabytes. Rejects as `makeWorkbook` does, and with `timeout`
 * and `too_large`.
 */
export async function writeWorkbook(request: WorkbookRequest, signal: AbortSignal): Promise<WrittenWorkbook> {
  const { content, ...written } = await runOwnScript({
    script: resolve(import.meta.dir, "workbook-worker.ts"),
    stdin: new Blob([JSON.stringify(request)]),
    subject: "Writing the workbook",
    deadlineMs,
    memoryBytes,
    signal,
    result: writtenWorkbook,
  });
  return { ...written, content: Buffer.from(content, "base64") };
}

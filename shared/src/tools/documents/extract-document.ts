import { resolve } from "node:path";
import { runOwnScript } from "../../machine/process/run-own-script.ts";
import { type DocumentExtract, type DocumentRequest, documentExtract } from "./document-protocol.ts";

const deadlineMs = 120_000;
const memoryBytes = 1.5 * 2 ** 30;

/** How many pictures of pages one reading returns at most. */
const maxPictures = 4;

/**
 * Reads an untrusted document (its content, or the descriptor of the open file) in a separate
 * process that reaches neither files nor the network, with 120 s and 1.5 GB. Rejects with
 * `invalid_input` for a part it does not have, `unsupported`, `too_large`, `timeout`, or the
 * signal's reason.
 */
export async function extractDocument(
  content: Blob | number,
  request: Omit<DocumentRequest, "pictures">,
  signal: AbortSignal,
): Promise<DocumentExtract> {
  const asked: DocumentRequest = { ...request, pictures: maxPictures };
  return await runOwnScript({
    script: resolve(import.meta.dir, "read/read-worker.ts"),
    args: [JSON.stringify(asked)],
    stdin: content,
    subject: "Reading the document",
    deadlineMs,
    memoryBytes,
    signal,
    result: documentExtract,
  });
}

import { resolve } from "node:path";
import { runOwnScript } from "../../../machine/process/run-own-script.ts";
import { type WordRequest, writtenWord } from "./word-protocol.ts";

const deadlineMs = 60_000;
const memoryBytes = 2 ** 30;

/**
 * A Word document (.docx) of HTML with embedded pictures, made in a separate process, since the
 * pictures may be anybody's. Rejects with `unsupported` for a picture that cannot be placed, with
 * `timeout` and `too_large`.
 */
export async function writeWord(request: WordRequest, signal: AbortSignal): Promise<Uint8Array> {
  const { content } = await runOwnScript({
    script: resolve(import.meta.dir, "word-worker.ts"),
    stdin: new Blob([JSON.stringify(request)]),
    subject: "Writing the document",
    deadlineMs,
    memoryBytes,
    signal,
    result: writtenWord,
  });
  return Buffer.from(content, "base64");
}

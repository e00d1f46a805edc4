import { AppError } from "../../../core/errors.ts";
import { type DocumentReply, documentRequest } from "../document-protocol.ts";
import { findPassages } from "./find-passages.ts";
import { fitPieces } from "./fit-pieces.ts";
import { openReading } from "./open-reading.ts";

/** Started by `extractDocument`: reads the document on its standard input, and ends. */

const reply = await read().catch((error: unknown): DocumentReply => {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof AppError)) return { ok: false, code: "unsupported", message: `It is damaged: ${message}` };
  const code = error.code === "invalid_input" || error.code === "too_large" ? error.code : "unsupported";
  return { ok: false, code, message };
});
await Bun.write(Bun.stdout, JSON.stringify(reply));
process.exit(0);

async function read(): Promise<DocumentReply> {
  const { from, characters, pictures, beginning, find, ...options } = documentRequest.parse(
    JSON.parse(process.argv.at(-1) ?? ""),
  );
  const bytes = await Bun.stdin.bytes();
  const reading = await openReading(bytes, { ...options, part: options.part });
  const wanted = find === undefined ? reading : await findPassages(reading, find);
  return { ok: true, extract: await fitPieces(wanted, { from, characters, pictures, beginning }) };
}

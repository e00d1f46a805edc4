import { AppError } from "../../../core/errors.ts";
import { replyOf } from "../../../machine/process/own-script-reply.ts";
import { type DocumentExtract, documentRequest } from "../document-protocol.ts";
import { findPassages } from "./find-passages.ts";
import { fitPieces } from "./fit-pieces.ts";
import { openReading } from "./open-reading.ts";

/** Started by `extractDocument`: reads the document on its standard input, and ends. */

await replyOf(() =>
  read().catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw new AppError("unsupported", `It is damaged: ${error instanceof Error ? error.message : error}`);
  }),
);

async function read(): Promise<DocumentExtract> {
  const { from, characters, pictures, beginning, find, ...options } = documentRequest.parse(
    JSON.parse(process.argv.at(-1) ?? ""),
  );
  const bytes = await Bun.stdin.bytes();
  const reading = await openReading(bytes, { ...options, part: options.part });
  const wanted = find === undefined ? reading : await findPassages(reading, find);
  return await fitPieces(wanted, { from, characters, pictures, beginning });
}

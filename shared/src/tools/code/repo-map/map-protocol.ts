import * as z from "zod";

/** The files to map: one JSON text on the worker's standard input. */
export const mapRequest = z.strictObject({
  files: z.array(z.strictObject({ path: z.string(), text: z.string() })),
  /** Milliseconds after which no further file is started. */
  timeoutMs: z.number(),
});

const symbol = z.strictObject({
  line: z.int(),
  /** 0 at the top of the file, 1 in a class, and so on. */
  depth: z.int(),
  name: z.string(),
  /** The line of code that contains the name, shortened. */
  text: z.string(),
});

/**
 * The response. `score` grows with the use that other files make of a file's definitions. Files
 * that were not reached are missing.
 */
export const mapReply = z.strictObject({
  files: z.array(z.strictObject({ path: z.string(), score: z.number(), symbols: z.array(symbol) })),
});

/** A definition in a source file. */
export type MappedSymbol = z.output<typeof symbol>;
/** A source file with its definitions. */
export type MappedFile = z.output<typeof mapReply>["files"][number];

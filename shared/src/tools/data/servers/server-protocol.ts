import * as z from "zod";

/** One request to a process that asks a database server: a line of JSON. */
export const serverRequest = z.strictObject({
  /** With user and password. */
  url: z.string(),
  sql: z.string(),
  /** Whether the statement may change the database. */
  write: z.boolean(),
  timeoutMs: z.number(),
  /** The most rows of the answer, and the characters of JSON after which no more are added. */
  rows: z.number(),
  maxCharacters: z.number(),
});
/** A checked request. */
export type ServerRequest = z.output<typeof serverRequest>;

const answer = z.strictObject({
  ok: z.literal(true),
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.json())),
  /** Whether the result has more rows than `rows`. */
  more: z.boolean(),
  /** The rows a statement without a result changed. */
  changed: z.number(),
});

/** The reply: also a line of JSON. */
export const serverReply = z.union([answer, z.strictObject({ ok: z.literal(false), message: z.string() })]);

/**
 * A server's answer. Dates and times are ISO 8601, bytes hexadecimal; decimals and integers beyond
 * 2^53 are text.
 */
export type ServerAnswer = Omit<z.output<typeof answer>, "ok">;

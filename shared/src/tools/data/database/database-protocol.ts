import * as z from "zod";

/** Exit code of the process: it exceeded its memory limit. */
export const outOfMemory = 77;
/** Exit code of the process: a statement changed how it works. */
export const changedByStatement = 78;

/** One request to the database's process: a line of JSON. */
export const databaseRequest = z.strictObject({
  sql: z.string(),
  /** Milliseconds after which the statement is interrupted. */
  timeoutMs: z.number(),
  /** Characters of JSON after which further rows are only counted. */
  maxCharacters: z.number(),
});

/** A column of a result. */
export type Column = { readonly name: string; readonly type: string };

const fileRead = z.strictObject({
  /** The forms in which dates, and times of dates, are read; none for ISO 8601. */
  dates: z.strictObject({ DATE: z.string().exactOptional(), TIMESTAMP: z.string().exactOptional() }),
  /**
   * Columns whose thousands may have been taken for decimals, and the table in which they are not.
   */
  thousands: z.strictObject({ columns: z.array(z.string()), table: z.string() }),
});

const rows = z.strictObject({
  ok: z.literal(true),
  columns: z.array(z.strictObject({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.json())),
  /** Rows of the whole result; `rows` may hold fewer. */
  total: z.number(),
  /**
   * What a statement gives instead of rows of data: in one cell how many it changed, or nothing
   * that says anything.
   */
  instead: z.enum(["count", "nothing"]).optional(),
  /** Of how many statements the rows of data are not shown, since a later one had some. */
  unshown: z.number().exactOptional(),
  /** What a reader of the files that the statement names has to know of them, a sentence each. */
  notes: z.array(z.string()),
  /** How the files with delimiters are read that the statement names. */
  files: z.array(fileRead),
});

/** Its reply: also a line of JSON. `timeout` says that the time limit ended the statement. */
export const databaseReply = z.union([
  rows,
  z.strictObject({ ok: z.literal(false), message: z.string(), timeout: z.boolean() }),
]);

/** A result with its first rows. Integers beyond 2^53, decimals, dates and times are text. */
export type QueryResult = Omit<z.output<typeof rows>, "ok">;
/** How a file with delimiters is read. */
export type FileRead = z.output<typeof fileRead>;
/** A checked request. */
export type DatabaseRequest = z.output<typeof databaseRequest>;
/** A checked reply. */
export type DatabaseReply = z.output<typeof databaseReply>;

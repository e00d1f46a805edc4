/**
 * File names and words, in any language that borrows them, that speak of a table to compute with.
 */
const speaks = /\.(?:csv|tsv|parquet|xlsx|jsonl|ndjson|sqlite)\b|\b(?:csv|tsv|parquet|sql|spreadsheet|excel)\b/i;

/** A result that names the tool, or says where a table was saved. */
const names = /\bsql_query\b|\bdownloads\/[^\s"']*\.(?:csv|tsv|parquet|xlsx|jsonl|ndjson|sqlite)\b/i;

/**
 * Whether words of a conversation call for the tool that computes with tables: the user's, or the
 * name of a file they sent; of a tool's result that it names the tool or a download.
 */
export function asksForTables(text: string, from: "user" | "result"): boolean {
  return (from === "user" ? speaks : names).test(text);
}

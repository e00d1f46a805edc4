import { type SqlToken, sqlStatements } from "./sql-statements.ts";

/** A text in a statement, and where it stands, with its quotes. */
type Place = { readonly text: string; readonly start: number; readonly end: number };

/** A file that a statement reads as text, and the encoding that it says it has, if it says one. */
export type NamedFile = Place & {
  readonly encoding: Place | undefined;
  /** Whether its bare name stands for a table: it is not what a call or a COPY reads. */
  readonly isTable: boolean;
  /** Whether a COPY reads it, which takes one name. */
  readonly isCopy: boolean;
};

const beforeFile = new Set(["from", "join", "pivot", "unpivot", "summarize", "describe", "desc", "table"]);
/** After these a comma parts no files. */
const afterFiles = new Set(["where", "group", "order", "having", "limit", "select", "set", "on", "using", "qualify"]);
const reader = /^(?:read_(?:csv|text|json|ndjson)\w*|sniff_csv)$/;

/** A level of parentheses: what a name in it may be, and the files and the encoding of a call. */
type Level = { names: "files" | "values"; readonly isCall: boolean; readonly files: Place[]; encoding?: Place };

/** The files that SQL reads by their names; a text that is compared or written to is not one. */
export function namedFiles(sql: string): readonly NamedFile[] {
  return (sqlStatements(sql) ?? []).flatMap((tokens) => {
    const found: NamedFile[] = [];
    const levels: Level[] = [{ names: "values", isCall: false, files: [] }];
    const isCopy = (level: Level) => tokens[0]?.text === "copy" && level === levels[0];
    const close = (level: Level) => {
      const kind = { isTable: !level.isCall && !isCopy(level), isCopy: isCopy(level) };
      found.push(...level.files.map((file) => ({ ...file, encoding: level.encoding, ...kind })));
    };
    for (const [index, token] of tokens.entries()) {
      const level = levels.at(-1);
      if (level === undefined) break;
      const before = tokens[index - 1];
      const place = nameIn(token);
      if (token.kind === "word" && !level.isCall) {
        if (beforeFile.has(token.text)) level.names = "files";
        if (afterFiles.has(token.text)) level.names = "values";
      } else if (token.kind === "other" && token.text === "(") {
        const isCall = before?.kind === "word" && reader.test(before.text);
        levels.push({ names: isCall ? "files" : "values", isCall, files: [] });
      } else if (token.kind === "other" && token.text === ")") {
        close(level);
        if (levels.length > 1) levels.pop();
      } else if (place !== undefined && level.isCall && before?.text === "=") {
        const name = tokens[index - (tokens[index - 2]?.text === ":" ? 3 : 2)];
        if (name?.text === "encoding") level.encoding = place;
      } else if (place !== undefined && level.names === "files" && beginsName(before, level.isCall)) {
        level.files.push(place);
      }
    }
    for (const level of levels) close(level);
    return found;
  });
}

function beginsName(before: SqlToken | undefined, isCall: boolean): boolean {
  if (before?.kind === "word") return beforeFile.has(before.text);
  return before?.text === "," || (isCall && (before?.text === "(" || before?.text === "["));
}

function nameIn({ kind, text, start, end }: SqlToken): Place | undefined {
  if (kind === "literal") return { text, start, end };
  return kind === "other" && text.startsWith('"')
    ? { text: text.slice(1, -1).replaceAll('""', '"'), start, end }
    : undefined;
}

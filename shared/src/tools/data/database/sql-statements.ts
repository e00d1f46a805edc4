/**
 * A piece of SQL that is neither space nor comment. `literal` is a plain text in single quotes,
 * `text` its content; a word's `text` is in small letters, `written` as it stands there. It stands
 * from `start` to `end`.
 */
export type SqlToken = {
  readonly kind: "word" | "literal" | "other";
  readonly text: string;
  readonly written: string;
  readonly start: number;
  readonly end: number;
};

/**
 * One piece of SQL at `lastIndex`: blanks, comments (only their start, because they nest), quoted
 * text, words, and any other character.
 */
const piece =
  /(\s+|--[^\n\r]*)|(\/\*)|([eE]'(?:[^'\\]|\\[\s\S]|'')*'|(?:[xXbB]|[uU]&)'(?:[^']|'')*')|'((?:[^']|'')*)'|("(?:[^"]|"")*")|(\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|([a-z_\u0080-\uffff][\w$\u0080-\uffff]*)|([\s\S])/iy;

/**
 * The statements of a text, each as its tokens, split as the database's own lexer does: text in
 * quotes or comments ends no statement. Undefined for a text with an unclosed quote or comment.
 */
export function sqlStatements(sql: string): readonly (readonly SqlToken[])[] | undefined {
  const statements: SqlToken[][] = [[]];
  let at = 0;
  const add = (kind: SqlToken["kind"], text: string, written = text) =>
    statements.at(-1)?.push({ kind, text, written, start: at, end: piece.lastIndex });
  for (piece.lastIndex = 0; piece.lastIndex < sql.length; ) {
    at = piece.lastIndex;
    const [, blank, comment, special, literal, name, tag, word, other] = piece.exec(sql) ?? [];
    if (blank !== undefined) continue;
    if (comment !== undefined || tag !== undefined) {
      const end = comment === undefined ? closingTag(sql, at, tag ?? "") : commentEnd(sql, at);
      if (end === undefined) return undefined;
      if (tag !== undefined) add("other", "$$");
      piece.lastIndex = end;
    } else if (literal !== undefined) add("literal", literal.replaceAll("''", "'"));
    else if (special !== undefined || name !== undefined) add("other", special ?? name ?? "");
    else if (word !== undefined) add("word", word.toLowerCase(), word);
    else if (other === "'" || other === '"') return undefined;
    else if (other === ";") statements.push([]);
    else add("other", other ?? "");
  }
  return statements.filter((tokens) => tokens.length > 0);
}

function closingTag(sql: string, at: number, tag: string): number | undefined {
  const end = sql.indexOf(tag, at + tag.length);
  return end < 0 ? undefined : end + tag.length;
}

/** Comments nest. */
function commentEnd(sql: string, from: number): number | undefined {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  for (let depth = 0; ; ) {
    const found = mark.exec(sql);
    if (found === null) return undefined;
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
}

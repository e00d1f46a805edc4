/** A piece of SQL that is neither space nor comment. `literal` is a plain text in single quotes, `text` what it says. */
export type SqlToken = { readonly kind: "word" | "literal" | "other"; readonly text: string };

/** One piece of SQL at `lastIndex`: blanks, comments (which nest, so only where one opens), quoted things, words, and any other character. */
const piece =
  /(\s+|--[^\n\r]*)|(\/\*)|([eE]'(?:[^'\\]|\\[\s\S]|'')*'|(?:[xXbB]|[uU]&)'(?:[^']|'')*')|'((?:[^']|'')*)'|("(?:[^"]|"")*")|(\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$)|([a-z_\u0080-\uffff][\w$\u0080-\uffff]*)|([\s\S])/iy;

/**
 * The statements of a text, each as its tokens, as the database's own lexer would cut them: what stands in quotes or comments ends none.
 * Undefined for a text in which something is opened and never closed.
 */
export function sqlStatements(sql: string): readonly (readonly SqlToken[])[] | undefined {
  const statements: SqlToken[][] = [[]];
  const add = (kind: SqlToken["kind"], text: string) => statements.at(-1)?.push({ kind, text });
  for (piece.lastIndex = 0; piece.lastIndex < sql.length; ) {
    const at = piece.lastIndex;
    const [, blank, comment, special, literal, name, tag, word, other] = piece.exec(sql) ?? [];
    if (blank !== undefined) continue;
    if (comment !== undefined || tag !== undefined) {
      const end = comment === undefined ? closingTag(sql, at, tag ?? "") : commentEnd(sql, at);
      if (end === undefined) return undefined;
      if (tag !== undefined) add("other", "$$");
      piece.lastIndex = end;
    } else if (literal !== undefined) add("literal", literal.replaceAll("''", "'"));
    else if (special !== undefined || name !== undefined) add("other", special ?? name ?? "");
    else if (word !== undefined) add("word", word.toLowerCase());
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

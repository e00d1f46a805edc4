/**
 * Wraps prose: `bun docs/site/wrap.ts [FILE …]`. Of a page, code, tables, headings and pictures
 * stay as they are; of a source, all but the comments that stand on lines of their own.
 */
const pageWidth = 100;

/** The words of a text; inline code stays in one piece. */
function words(text: string): string[] {
  return text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
}

/**
 * What Markdown would take for a list, a heading, a quotation or a table at the beginning of a
 * line.
 */
const startsBlock = /^(?:[-*+>]|\d+[.)]|#+|\|.*)$/;

/**
 * The text in lines of at most `width` columns, the first after `first`, the others after `rest`.
 */
export function wrapped(text: string, first = "", rest = "", width = pageWidth): string {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of words(text)) {
    if (!isEmpty && line.length + 1 + word.length > width && !startsBlock.test(word)) {
      lines.push(line);
      line = rest + word;
    } else line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line].join("\n");
}

/** A Markdown text with its paragraphs and list items wrapped. */
export function wrapMarkdown(markdown: string, width = pageWidth): string {
  const done: string[] = [];
  let open: { readonly first: string; readonly rest: string; text: string } | undefined;
  let inCode = false;
  const close = () => {
    if (open !== undefined) done.push(wrapped(open.text, open.first, open.rest, width));
    open = undefined;
  };
  for (const line of markdown.split("\n")) {
    const isFence = /^\s*```/.test(line);
    if (isFence) inCode = !inCode;
    if (isFence || inCode || /^\s*$|^(?:#|\||<|>|!\[)/.test(line)) {
      close();
      done.push(line);
      continue;
    }
    const [, mark = "", text = ""] = /^(\s*(?:[-*+]|\d+[.)])\s+)(.*)$/.exec(line) ?? [];
    if (mark !== "") {
      close();
      open = { first: mark, rest: " ".repeat(mark.length), text };
    } else if (open !== undefined) open.text += ` ${line.trim()}`;
    else {
      const indent = /^\s*/.exec(line)?.[0] ?? "";
      open = { first: indent, rest: indent, text: line.trim() };
    }
  }
  close();
  return done.join("\n");
}

/** A comment of several lines, or one that ends on the line on which it begins. */
const blockComment = /^([ \t]*)\/\*\*(?:[ \t]+(.*?)[ \t]*\*\/|[ \t]*\n((?:[ \t]*\*(?!\/).*\n)+)[ \t]*\*\/)$/gm;
/** Lines that are comments one below the other, at the same depth. */
const lineComments = /^([ \t]*)\/\/ .*(?:\n\1\/\/ .*)*$/gm;
/** A comment that a tool reads. */
const directive = /(?:biome-ignore|@ts-|<reference|eslint|@vitest|knip)/;

/** A source in TypeScript or JavaScript, with the comments that are too wide wrapped. */
export function wrapComments(source: string): string {
  const isWide = (comment: string) =>
    !directive.test(comment) && comment.split("\n").some((line) => line.length > pageWidth);
  return source
    .replaceAll(blockComment, (comment, indent: string, one: string | undefined, many = "") => {
      if (!isWide(comment)) return comment;
      const text = one ?? many.replaceAll(/^[ \t]*\* ?/gm, "").trimEnd();
      const lines = wrapMarkdown(text, pageWidth - indent.length - 3).split("\n");
      return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n");
    })
    .replaceAll(lineComments, (comment, indent: string) => {
      if (!isWide(comment)) return comment;
      const text = comment.replaceAll(/^[ \t]*\/\/ /gm, "");
      const lines = wrapMarkdown(text, pageWidth - indent.length - 3).split("\n");
      return lines.map((line) => `${indent}// ${line}`).join("\n");
    });
}

if (import.meta.main)
  for (const path of process.argv.slice(2)) {
    const text = await Bun.file(path).text();
    await Bun.write(path, path.endsWith(".md") ? wrapMarkdown(text) : wrapComments(text));
  }

/** Wraps the prose of the guides: `bun docs/site/wrap.ts [FILE …]`; code, tables, headings and pictures stay as they are. */
const width = 100;

/** The words of a text; inline code stays in one piece. */
function words(text: string): string[] {
  return text.match(/(?:`[^`]*`|[^\s`])+/g) ?? [];
}

/** What Markdown would take for a list, a heading, a quotation or a table at the beginning of a line. */
const startsBlock = /^(?:[-*+>]|\d+[.)]|#+|\|.*)$/;

/** The text in lines of at most 100 columns, the first after `first`, the others after `rest`. */
export function wrapped(text: string, first = "", rest = ""): string {
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
export function wrapMarkdown(markdown: string): string {
  const done: string[] = [];
  let open: { readonly first: string; readonly rest: string; text: string } | undefined;
  let inCode = false;
  const close = () => {
    if (open !== undefined) done.push(wrapped(open.text, open.first, open.rest));
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

if (import.meta.main)
  for (const path of process.argv.slice(2)) await Bun.write(path, wrapMarkdown(await Bun.file(path).text()));

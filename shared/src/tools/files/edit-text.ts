import { AppError } from "../../core/errors.ts";
import { splice, withPlainEndings } from "./line-endings.ts";

const snippetLines = 4;

/** A text after an edit, and the lines around the change; the first of them is line `firstLine`. */
export type EditedText = { readonly text: string; readonly snippet: string; readonly firstLine: number };

/**
 * Replaces the only occurrence of `oldText`. Line endings need not match: `\n` finds `\r\n`. Throws
 * `invalid_input`, worded for the model, when it is missing, occurs more than once, or nothing
 * would change.
 */
export function replaceText(text: string, oldText: string, newText: string, path: string): EditedText {
  if (oldText === "") throw invalid("Parameter `old_str` must not be empty for command: str_replace");
  const plain = withPlainEndings(text);
  const wanted = withPlainEndings(oldText);
  const replacement = withPlainEndings(newText);
  const [start, ...more] = offsetsOf(plain, wanted);
  if (start === undefined)
    throw invalid(`No replacement was performed, old_str \`${oldText}\` did not appear verbatim in ${path}.`);
  if (more.length > 0) {
    const lines = [start, ...more].map((offset) => lineAt(plain, offset) + 1);
    throw invalid(
      `No replacement was performed. Multiple occurrences of old_str \`${oldText}\` in lines [${lines.join(", ")}]. Please ensure it is unique`,
    );
  }
  if (wanted === replacement) throw invalid("No replacement was performed: new_str is the same as old_str.");
  const edited = splice(text, start, start + wanted.length, replacement);
  const line = lineAt(plain, start);
  const firstLine = Math.max(0, line - snippetLines);
  const lastLine = line + snippetLines + lineAt(replacement, replacement.length);
  const snippet = withPlainEndings(edited)
    .split("\n")
    .slice(firstLine, lastLine + 1)
    .join("\n");
  return { text: edited, snippet, firstLine: firstLine + 1 };
}

/**
 * Inserts `newText` as separate lines after line `afterLine` (0: at the start). Throws
 * `invalid_input` when there is no such line.
 */
export function insertText(text: string, afterLine: number, newText: string): EditedText {
  const plain = withPlainEndings(text);
  const lines = plain.split("\n");
  if (afterLine < 0 || afterLine > lines.length)
    throw invalid(
      `Invalid \`insert_line\` parameter: ${afterLine}. It should be within the range of lines of the file: [0, ${lines.length}]`,
    );
  const before = lines.slice(0, afterLine);
  const added = withPlainEndings(newText).split("\n");
  const atEnd = afterLine === lines.length;
  const offset = atEnd ? plain.length : before.reduce((sum, line) => sum + line.length + 1, 0);
  const edited = splice(text, offset, offset, atEnd ? `\n${newText}` : `${newText}\n`);
  const shown = [...before.slice(-snippetLines), ...added, ...lines.slice(afterLine, afterLine + snippetLines)];
  return { text: edited, snippet: shown.join("\n"), firstLine: Math.max(0, afterLine - snippetLines) + 1 };
}

function offsetsOf(text: string, wanted: string): number[] {
  const offsets: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) offsets.push(at);
  return offsets;
}

/** The index, from 0, of the line that contains an offset. */
function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length - 1;
}

function invalid(message: string): AppError {
  return new AppError("invalid_input", message);
}

/** A piece of a terminal's output that looks the same throughout. */
export type AnsiPiece = { readonly text: string; readonly class: string };

/** Sequences of a terminal: colours, and everything else, which is left out. */
const sequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are controlled by these characters.
  /\u001b\[([0-9;]*)m|\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;

/**
 * The output of a terminal in pieces: colours and weights as classes, nothing else of its control.
 */
export function ansiPieces(output: string): readonly AnsiPiece[] {
  const pieces: AnsiPiece[] = [];
  let look: Look = plain;
  let from = 0;
  const text = overwritten(output);
  for (const match of text.matchAll(sequence)) {
    push(pieces, text.slice(from, match.index), look);
    if (match[1] !== undefined) look = looked(look, match[1]);
    from = match.index + match[0].length;
  }
  push(pieces, text.slice(from), look);
  return pieces;
}

type Look = { readonly color: string; readonly bold: boolean; readonly dim: boolean };
const plain: Look = { color: "", bold: false, dim: false };

function push(pieces: AnsiPiece[], text: string, { color, bold, dim }: Look): void {
  if (text === "") return;
  const names = [color, bold ? "bold" : "", dim ? "d" : ""].filter((name) => name !== "");
  pieces.push({ text, class: names.join(" ") });
}

function looked(before: Look, codes: string): Look {
  const numbers = codes === "" ? [0] : codes.split(";").map(Number);
  let look = before;
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0;
    if (code === 0) look = plain;
    else if (code === 1) look = { ...look, bold: true };
    else if (code === 2) look = { ...look, dim: true };
    else if (code === 22) look = { ...look, bold: false, dim: false };
    else if (code === 39) look = { ...look, color: "" };
    else if (code >= 30 && code <= 37) look = { ...look, color: `a${code - 30}` };
    else if (code >= 90 && code <= 97) look = { ...look, color: `a${code - 90}` };
    else if (code === 38 || code === 48) {
      // The numbers of a palette's or a mixed colour are not colours themselves.
      at += numbers[at + 1] === 5 ? 2 : 4;
    }
  }
  return look;
}

/** A carriage return begins the line anew, as progress bars do. */
function overwritten(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n");
}

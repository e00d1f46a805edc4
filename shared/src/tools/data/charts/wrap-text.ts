import { isWide, textWidth } from "./text-width.ts";

/** A text in lines of at most this width (of `textWidth`), broken at spaces, and within Chinese, Japanese or Korean anywhere. */
export function wrapText(text: string, most: number): string[] {
  const lines: string[] = [];
  let [line, width] = ["", 0];
  for (const piece of pieces(text)) {
    const more = textWidth(piece);
    if (width + textWidth(piece.trimEnd()) > most && line !== "") {
      lines.push(line.trimEnd());
      [line, width] = ["", 0];
    }
    line += piece;
    width += more;
  }
  return line === "" ? lines : [...lines, line.trimEnd()];
}

/** Words with the space after them, and single wide letters; never a closing mark alone. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (const letter of text) {
    const last = found.at(-1);
    const joins = last !== undefined && !last.endsWith(" ") && !(isWide(letter) || isWide(last));
    if (last !== undefined && (joins || letter === " " || "，。：；、）》”".includes(letter)))
      found[found.length - 1] = last + letter;
    else found.push(letter);
  }
  return found;
}

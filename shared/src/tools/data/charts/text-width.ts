/**
 * A text in lines of at most this width (of `textWidth`), broken at spaces, and within Chinese,
 * Japanese or Korean anywhere.
 */
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

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const slim = /[ijltfrI.,:;'|!()[\]\s-]/;
const broad = /[A-ZmwMW%@&Σ—…]/;

/** Whether a letter takes the place of two: Chinese, Japanese, Korean. */
function isWide(letter: string): boolean {
  return wide.test(letter);
}

/**
 * How wide a text is in a usual font without serifs, as a multiple of the font's size; an estimate,
 * a little too wide rather than too slim.
 */
export function textWidth(text: string): number {
  let width = 0;
  for (const letter of text)
    width += wide.test(letter) ? 1 : broad.test(letter) ? 0.76 : slim.test(letter) ? 0.34 : 0.57;
  return width;
}

/**
 * A text in lines of at most this width (by `textWidth`), broken at spaces, and anywhere within
 * Chinese, Japanese or Korean.
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

/** Whether a letter is as wide as two: Chinese, Japanese, Korean. */
function isWide(letter: string): boolean {
  return wide.test(letter);
}

/**
 * The width of a text in a common sans-serif font, as a multiple of the font's size; an estimate,
 * rather too wide than too narrow.
 */
export function textWidth(text: string): number {
  let width = 0;
  for (const letter of text)
    width += wide.test(letter) ? 1 : broad.test(letter) ? 0.76 : slim.test(letter) ? 0.34 : 0.57;
  return width;
}

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const slim = /[ijltfrI.,:;'|!()[\]\s-]/;
const broad = /[A-ZmwMW%@&Σ—…]/;

/** Whether a letter takes the place of two: Chinese, Japanese, Korean. */
export function isWide(letter: string): boolean {
  return wide.test(letter);
}

/** How wide a text is in a usual font without serifs, as a multiple of the font's size; an estimate, a little too wide rather than too slim. */
export function textWidth(text: string): number {
  let width = 0;
  for (const letter of text)
    width += wide.test(letter) ? 1 : broad.test(letter) ? 0.76 : slim.test(letter) ? 0.34 : 0.57;
  return width;
}

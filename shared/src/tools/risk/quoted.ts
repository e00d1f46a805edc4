const longest = 80;

/** A page's or a model's words as they may stand in a sentence a person decides by: one line, nothing invisible, cut, in marks they cannot close. */
export function quoted(text: string): string {
  const visible = text
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .replaceAll(/[“”]/g, '"')
    .trim();
  const short = visible.length <= longest ? visible : `${visible.slice(0, longest - 1).toWellFormed()}…`;
  return `“${short}”`;
}

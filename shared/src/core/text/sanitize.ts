const esc = String.fromCharCode(0x1b);
const bell = String.fromCharCode(0x07);
const csi = String.fromCharCode(0x9b);

/**
 * Complete terminal sequences: CSI, OSC and the like with their terminator, other escapes with
 * their letter.
 */
const terminal = new RegExp(
  [
    `(?:${esc}\\[|${csi})[0-?]*[ -/]*[@-~]`,
    `${esc}[\\]PX^_][^${bell}${esc}\n]*(?:${bell}|${esc}\\\\)?`,
    `${esc}[ -/]*[0-~]`,
  ].join("|"),
  "g",
);

/**
 * Characters that are invisible or change how the rest is read: controls, line separators,
 * zero-width, bidirectional and tag characters.
 */
const unseen =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/gv;

/**
 * Joiners, which scripts and emoji need, where neither is present: several in a row, or next to
 * ASCII.
 */
const needless =
  /(?:\u200c|\u200d|\ufe0e|\ufe0f){2,}|(?<=\p{ASCII})(?:\u200c|\u200d)|(?:\u200c|\u200d)(?=\p{ASCII}|$)/gu;

/**
 * A text from outside made safe for a model and a person to read: well-formed, without terminal
 * sequences and invisible characters.
 */
export function sanitize(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  return lines.replace(terminal, "").replace(unseen, "").replace(needless, "").toWellFormed();
}

/**
 * The same on one line of at most `limit` characters; of a long text only the beginning is read.
 */
export function sanitizeLine(text: string, limit = 200): string {
  const line = sanitize(text.slice(0, limit * 4))
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= limit ? line : `${line.slice(0, limit - 1).toWellFormed()}…`;
}

/**
 * A text by others between marks that say where it comes from. It cannot end the marks, so a model
 * can always tell it from the words around it.
 */
export function betweenMarks(mark: string, source: string, text: string): string {
  const inside = text.replaceAll(new RegExp(`<(/?${mark})`, "gi"), "<\\$1");
  return `<${mark} from="${source.replaceAll('"', "%22")}">\n${inside}\n</${mark}>`;
}

/**
 * The text with every unseen character but tab and newline as its JSON escape. JSON stays the same
 * value.
 */
export function escapeUnseen(text: string): string {
  return text.replace(unseen, (character) => character.replace(/./gs, unitEscape));
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A part of a line. */
export type Inline =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "strong" | "em" | "del"; readonly inline: readonly Inline[] }
  | { readonly type: "link"; readonly inline: readonly Inline[]; readonly href: string }
  | { readonly type: "break" };

/** Marks within marks are read so deep. */
const maxDepth = 6;

/**
 * The marks, the first that fits at a place wins. Each looks a bounded way ahead, so that no text
 * takes long; a line break ends what is not closed, as while an answer is being written.
 */
const marks = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<fence>`{1,2})(?!`)(?<code>[^\n]{1,2000}?)(?<!`)\k<fence>(?!`)/,
    /!?\[(?<label>(?:[^[\]\n\\]|\\.|\[[^[\]\n]{0,200}\]){0,300})\]\(<?(?<target>(?:[^()\s<>]|\([^()\s]{0,200}\)){1,2000})>?(?:[ \t]{1,9}"[^"\n]{0,300}")?\)/,
    /<(?<auto>https?:\/\/[^\s<>]{1,2000})>/,
    /(?<line><br ?\/?>)/,
    /\*\*\*(?=[^\s*])(?<both>[^*\n]{1,1000}?)(?<=\S)\*\*\*(?!\*)/,
    /\*\*(?=[^\s*])(?<stars>[^\n]{1,1000}?)(?<=\S)\*\*(?!\*)/,
    /(?<![*\w])\*(?=[^\s*])(?<star>[^*\n]{1,1000}?)(?<=\S)\*(?![*\w])/,
    /(?<![\w_])__(?=[^\s_])(?<dashes>[^\n]{1,1000}?)(?<=[^\s_])__(?![\w_])/,
    /(?<![\w_])_(?=[^\s_])(?<dash>[^_\n]{1,1000}?)(?<=\S)_(?![\w_])/,
    /~~(?=[^\s~])(?<gone>[^\n]{1,1000}?)(?<=\S)~~(?!~)/,
    /(?<bare>https?:\/\/[^\s<>"'`\]\u3001-\u301f\uff00-\uff0f\uff1a-\uff1f]{1,2000})/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gu",
);

/** Reads the marks within a text; what is none stays text. */
export function parseInline(text: string, depth = 0): Inline[] {
  if (depth > maxDepth) return [{ type: "text", text }];
  const parts: Inline[] = [];
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain !== "") parts.push({ type: "text", text: plain });
    plain = "";
  };
  for (const match of text.matchAll(marks)) {
    plain += text.slice(at, match.index);
    at = match.index + match[0].length;
    const { escaped, bare } = match.groups ?? {};
    const after = bare === undefined ? "" : bare.slice(addressIn(bare).length);
    const part = escaped === undefined ? partOf(match, depth) : escaped;
    if (typeof part === "string") plain += part;
    else {
      flush();
      parts.push(part);
      plain = after;
    }
  }
  plain += text.slice(at);
  flush();
  return parts;
}

/** What a mark makes of its text; the text as it was written where it makes nothing. */
function partOf(match: RegExpMatchArray, depth: number): Inline | string {
  const [whole] = match;
  const { code, label, target, auto, line, both, stars, star, dashes, dash, gone, bare } = match.groups ?? {};
  const within = (text: string) => parseInline(text, depth + 1);
  if (code !== undefined) return { type: "code", text: code.replace(/^ (.*\S.*) $/, "$1") };
  if (line !== undefined) return { type: "break" };
  if (both !== undefined) return { type: "strong", inline: [{ type: "em", inline: within(both) }] };
  const strong = stars ?? dashes;
  if (strong !== undefined) return { type: "strong", inline: within(strong) };
  const em = star ?? dash;
  if (em !== undefined) return { type: "em", inline: within(em) };
  if (gone !== undefined) return { type: "del", inline: within(gone) };
  const given = target ?? auto ?? addressIn(bare ?? "");
  const href = webAddress(given);
  if (href === undefined) return whole;
  return { type: "link", inline: label ? unlinked(within(label)) : [{ type: "text", text: given }], href };
}

/** The label of a link has no links in it. */
function unlinked(parts: readonly Inline[]): Inline[] {
  return parts.flatMap((part) => {
    if (part.type === "link") return unlinked(part.inline);
    return "inline" in part ? [{ ...part, inline: unlinked(part.inline) }] : [part];
  });
}

/** An address in a sentence without what belongs to the sentence: a full stop, a bracket. */
function addressIn(bare: string): string {
  let end = bare.length;
  let unopened = bare.split(")").length - bare.split("(").length;
  for (; end > 0; end--) {
    const last = bare[end - 1] ?? "";
    if (last === ")" && unopened > 0) unopened--;
    else if (!".,;:!?*_~|".includes(last)) break;
  }
  return bare.slice(0, end);
}

/** An address that may be a link, as a browser will read it: http or https, nothing else. */
function webAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href;
}

/** A heading of a document. */
export type Heading = {
  /** How deep it is, from 1. */
  readonly level: number;
  readonly title: string;
  /** Where what it heads begins (`page 12`), or how to find that out. */
  readonly place: string | (() => Promise<string | undefined>);
};

const longestOutline = 1_500;
const longestTitle = 80;
/** Fewer headings than this, such as the title alone, lead nowhere. */
const fewest = 3;

/**
 * Headings as a list, each with where it begins: as many levels as there is room for, or the
 * beginning of the first ones.
 */
export async function outlineText(headings: readonly Heading[]): Promise<string> {
  const lines: string[] = [];
  const { shown, least } = chosenLevels(headings);
  let room = longestOutline;
  for (const { level, title, place } of shown) {
    const line = `${"  ".repeat(level - least)}- ${shortened(title)}`;
    room -= line.length + aroundPlace;
    if (room < 0) return `${lines.join("\n")}\n- and ${shown.length - lines.length} more\n`;
    const at = typeof place === "string" ? place : await place();
    lines.push(at === undefined ? line : `${line}: ${at}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** Characters of a place, and of the line it stands in. */
const aroundPlace = 12;

function chosenLevels(headings: readonly Heading[]): { readonly shown: readonly Heading[]; readonly least: number } {
  const levels = [...new Set(headings.map(({ level }) => level))].toSorted((one, other) => one - other);
  const least = levels[0] ?? 1;
  let shown: readonly Heading[] = [];
  for (const deepest of levels) {
    const more = headings.filter(({ level }) => level <= deepest);
    const length = more.reduce(
      (sum, { level, title }) => sum + 2 * (level - least + 1) + shortened(title).length + aroundPlace,
      0,
    );
    if (length > longestOutline && shown.length >= fewest) break;
    shown = more;
    if (length > longestOutline) break;
  }
  return { shown, least };
}

function shortened(title: string): string {
  return title.replaceAll(/\s+/g, " ").trim().slice(0, longestTitle).toWellFormed();
}

/** The headings of a Markdown text, each with the characters before it. */
export function markdownHeadings(text: string): Heading[] {
  return [...text.matchAll(/^(#{1,6}) +(\S.*)$/gm)].map(({ index, 1: mark = "", 2: title = "" }) => ({
    level: mark.length,
    title,
    place: `from ${index}`,
  }));
}

/** The first heading of each piece, as the headings of all. */
export async function firstHeadings(
  pieces: AsyncIterable<{ readonly label: string; readonly text: string }>,
): Promise<Heading[]> {
  const found: Heading[] = [];
  for await (const { label, text } of pieces) {
    const [first] = markdownHeadings(text);
    if (first !== undefined) found.push({ level: 1, title: first.title, place: label });
  }
  return found;
}

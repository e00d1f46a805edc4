/** One line of a hunk: kept, removed or added. */
export type HunkLine = { readonly op: " " | "-" | "+"; readonly text: string };

/**
 * A piece of a file's patch. `line` counts from 1; without it the old text must be in the file
 * exactly once.
 */
export type Hunk = {
  readonly line: number | undefined;
  readonly lines: readonly HunkLine[];
  /** How the file's last line ends, when the patch says it has no line ending before or after. */
  readonly lastLine?: { readonly bareBefore: boolean; readonly bareAfter: boolean };
};

/** What a patch does to one file. */
export type FilePatch = {
  readonly kind: "update" | "create" | "delete";
  readonly path: string;
  readonly hunks: readonly Hunk[];
};

/** The lines a hunk expects in the file. */
export function oldLines({ lines }: Hunk): string[] {
  return lines.filter(({ op }) => op !== "+").map(({ text }) => text);
}

/** A part of a patch after parsing, and the index of the line after it. */
export type Read<T> = { readonly value: T; readonly next: number };

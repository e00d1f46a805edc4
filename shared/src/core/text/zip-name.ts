import { nameReader } from "./name-code.ts";

/** What the directory of a zip archive says of an entry's name. */
export type ZipNameParts = {
  readonly generalPurposeBitFlag: number;
  readonly fileNameRaw: Uint8Array;
  readonly extraFields: readonly { readonly id: number }[];
};

/** The extra field in which Info-ZIP repeats a name in UTF-8. */
const unicodePath = 0x7075;

const utf8Flag = 0x800;

/** Entries by which the encoding of all names is judged, at most. */
export const judgedEntries = 2_000;

/**
 * Reads names that do not say what they are in: as UTF-8, or in the encoding that those of `first`
 * seem to be in. Undefined for ASCII, for a name that says it, and for what only MS-DOS wrote.
 */
export function zipNameReader(first: readonly ZipNameParts[]): (entry: ZipNameParts) => string | undefined {
  const foreign = first.filter((entry) => isUnmarked(entry) && unmarkedUtf8(entry) === undefined);
  const read = nameReader(foreign.map(({ fileNameRaw }) => fileNameRaw));
  return (entry) => unmarkedUtf8(entry) ?? (isUnmarked(entry) ? read(entry.fileNameRaw) : undefined);
}

/** Whether nothing says what encoding its name is in. */
function isUnmarked({ generalPurposeBitFlag, extraFields }: ZipNameParts): boolean {
  return (generalPurposeBitFlag & utf8Flag) === 0 && extraFields.every(({ id }) => id !== unicodePath);
}

/**
 * An entry's name as UTF-8, if its bytes are that: many programs, those of macOS among them, write
 * UTF-8 without setting the flag that says so. Undefined for ASCII, for other encodings, and where
 * the name stands in a field of its own.
 */
function unmarkedUtf8({ fileNameRaw, extraFields }: ZipNameParts): string | undefined {
  if (extraFields.some(({ id }) => id === unicodePath)) return undefined;
  if (fileNameRaw.every((byte) => byte < 0x80)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fileNameRaw);
  } catch {
    return undefined;
  }
}

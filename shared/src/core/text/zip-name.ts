/** What the directory of a zip archive says of an entry's name. */
export type ZipNameParts = {
  readonly fileNameRaw: Uint8Array;
  readonly extraFields: readonly { readonly id: number }[];
};

/** The extra field in which Info-ZIP repeats a name in UTF-8. */
const unicodePath = 0x7075;

/**
 * An entry's name as UTF-8, if its bytes are that: many programs, those of macOS among them, write
 * UTF-8 without setting the flag that says so. Undefined for ASCII, for other encodings, and where
 * the name stands in a field of its own.
 */
export function unmarkedUtf8({ fileNameRaw, extraFields }: ZipNameParts): string | undefined {
  if (extraFields.some(({ id }) => id === unicodePath)) return undefined;
  if (fileNameRaw.every((byte) => byte < 0x80)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fileNameRaw);
  } catch {
    return undefined;
  }
}

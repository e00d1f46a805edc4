import { requireUnpackable, type ZipContent } from "../zip-content.ts";

/** A document that is a zip archive: its bytes and its directory. */
export type OfficeFile = { readonly bytes: Uint8Array; readonly zip: ZipContent };

const maxBytes = 400 * 2 ** 20;

/** Rejects with `too_large` a document that claims to unpack to more than 400 MB. */
export function fitsInMemory(zip: ZipContent): void {
  requireUnpackable(zip, maxBytes);
}

/** Whether it has macros, which nobody runs. */
export function macrosNote({ entries }: ZipContent): string {
  return entries.some(({ path }) => /vbaProject\.bin$/i.test(path)) ? ", with macros (not run)" : "";
}

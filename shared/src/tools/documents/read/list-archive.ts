import { counted, numberRange } from "./number-range.ts";
import type { DocumentPiece, Reading } from "./reading.ts";
import type { ZipContent } from "./zip-content.ts";

/** The names and sizes of what a zip archive holds; nothing is unpacked. */
export function listArchive({ entries, unpackedBytes }: ZipContent, part: string | undefined): Reading {
  const { first, last } = numberRange(part, Math.max(1, entries.length), "entry");
  const pieces = entries.slice(first - 1, last).map(({ path, size }, at): DocumentPiece => {
    const number = first + at;
    return { label: `entry ${number}`, at: `${number}-${last}`, text: `- ${path} (${size} bytes)` };
  });
  return { about: `Zip archive, ${counted(entries.length, "file")}, ${unpackedBytes} bytes unpacked`, pieces };
}

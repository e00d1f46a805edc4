import { bytesInWords } from "../../../machine/sandbox/limits.ts";
import type { Unpacked } from "./place-entries.ts";

const shown = 20;

/** What a model wants to know of an unpacked archive. */
export function unpackedText({ folder, files, leftOut }: Unpacked): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const top = [...new Set(files.map(({ path }) => path.slice(folder.length + 1).replace(/\/.*/s, "/")))].sort();
  const lines = [
    `Unpacked ${files.length} file${files.length === 1 ? "" : "s"} (${bytesInWords(bytes)}) into ${folder}/:`,
    ...top.slice(0, shown).map((name) => `- ${name}`),
    ...(top.length > shown ? [`- and ${top.length - shown} more`] : []),
    ...(leftOut.length > 0
      ? [
          `Left out (git hooks, links that lead nowhere or outside): ${leftOut.slice(0, shown).join(", ")}${leftOut.length > shown ? " …" : ""}`,
        ]
      : []),
  ];
  return lines.join("\n");
}

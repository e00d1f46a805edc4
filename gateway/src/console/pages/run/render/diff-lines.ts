import { structuredPatch } from "diff";

/** A line of a diff with its numbers before and after. */
export type DiffLine = {
  readonly kind: "same" | "add" | "del" | "gap";
  readonly number: number | undefined;
  readonly text: string;
};

/** The changes of one file. */
export type FileDiff = { readonly name: string; readonly lines: readonly DiffLine[] };

/** Lines around a change. */
const context = 3;

/** What a replacement changed. The numbers count from the beginning of the replaced text. */
export function diffOf(name: string, before: string, after: string): FileDiff {
  const { hunks } = structuredPatch(name, name, ended(before), ended(after), "", "", { context });
  const lines = hunks.flatMap(({ oldStart, newStart, lines: body }, at) => [
    ...(at === 0 ? [] : [{ kind: "gap", number: undefined, text: "" } as const]),
    ...numbered(body, oldStart, newStart),
  ]);
  return { name, lines };
}

const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/**
 * The files of a unified diff, as git writes it, or of a patch as models write it (`*** Update
 * File: name`); none if the text is neither.
 */
export function readDiff(text: string): readonly FileDiff[] {
  const files: { name: string; lines: DiffLine[] }[] = [];
  let open: { body: string[]; from: [number, number] } | undefined;
  const close = () => {
    if (open !== undefined) files.at(-1)?.lines.push(...numbered(open.body, ...open.from));
    open = undefined;
  };
  for (const line of text.split("\n")) {
    const name =
      /^\+\+\+ (?:b\/)?(.+?)\t?$/.exec(line)?.[1] ?? /^\*\*\* (?:Update|Add|Delete) File: (.+)$/.exec(line)?.[1];
    const hunk = /^@@(?: -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)?)?/.exec(line);
    if (name !== undefined) {
      close();
      files.push({ name, lines: [] });
      if (line.startsWith("***")) open = { body: [], from: [1, 1] };
    } else if (hunk !== null && files.length > 0) {
      const isFirst = open === undefined || open.body.length === 0;
      close();
      if (!isFirst) files.at(-1)?.lines.push({ kind: "gap", number: undefined, text: "" });
      open = { body: [], from: [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)] };
    } else if (/^(?:diff --git|--- |index |\*\*\* )/.test(line)) close();
    else if (open !== undefined && /^[ +-]/.test(line)) open.body.push(line);
  }
  close();
  return files.filter(({ lines }) => lines.length > 0);
}

function numbered(body: readonly string[], oldStart: number, newStart: number): DiffLine[] {
  let [before, after] = [oldStart, newStart];
  return body.flatMap((line): DiffLine[] => {
    const text = line.slice(1);
    if (line.startsWith("+")) return [{ kind: "add", number: after++, text }];
    if (line.startsWith("-")) return [{ kind: "del", number: before++, text }];
    if (!line.startsWith(" ")) return [];
    before += 1;
    return [{ kind: "same", number: after++, text }];
  });
}

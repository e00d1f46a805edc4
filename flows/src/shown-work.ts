import type { StoredFile } from "manyhands";
import { type AskOutcome, cut, type Flow } from "manyhands/flows";
import { marked } from "./marked.ts";

const longestReport = 16_000;

/**
 * What an agent made, for a model to judge: its answer between `<report>` marks, the beginnings of its files between `<file>` marks and of those it had
 * been `given`, where they are still as they came, between `<given>` marks.
 */
export async function shownWork(
  flow: Flow,
  { answer, files }: Pick<AskOutcome, "answer" | "files">,
  given: readonly StoredFile[] = [],
): Promise<string> {
  const others = given.filter(({ name }) => files.every((file) => file.name !== name));
  const excerpts = await flow.excerpts([...files, ...others]);
  const shown = excerpts.map(({ name, size, text }, index) =>
    marked(index < files.length ? "file" : "given", text ?? "[not text]", { name, bytes: size }),
  );
  return [marked("report", cut(answer, longestReport)), ...shown].join("\n\n");
}

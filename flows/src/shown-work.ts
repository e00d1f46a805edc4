import type { AskOutcome } from "@manyhands/shared/peers/outcome";
import { cut } from "./cut.ts";
import type { Flow } from "./flow.ts";
import { marked } from "./marked.ts";

const longestReport = 16_000;

/** What an agent made, for a model to judge: its answer between `<report>` marks and the beginnings of its files between `<file>` marks. */
export async function shownWork(flow: Flow, { answer, files }: Pick<AskOutcome, "answer" | "files">): Promise<string> {
  const excerpts = await flow.excerpts(files);
  const shown = excerpts.map(({ name, size, text }) => marked("file", text ?? "[not text]", { name, bytes: size }));
  return [marked("report", cut(answer, longestReport)), ...shown].join("\n\n");
}

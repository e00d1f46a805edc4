import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import type { RunView } from "manyhands/internal/runs/run-view";
import { safeLine, safeText } from "../../terminal/safe-text.ts";

/** What is told of a run, whichever way it takes. */
export type RunNews = {
  readonly type: "run.completed" | "run.failed" | "run.canceled" | "run.waiting" | "test";
  /** One line. */
  readonly title: string;
  readonly text: string;
  /** Where the run is shown. */
  readonly url: string;
  readonly runId?: string;
};

const longestText = 4_000;

/** What there is to say of a run that has ended or asks something; undefined of any other. */
export function newsOf(run: RunView, publicUrl: string): RunNews | undefined {
  const { id, status, input, answer, question, error } = run;
  const about = safeLine(input, 80);
  const url = `${withoutLastSlashes(publicUrl)}/#/runs/${id}`;
  const tell = (type: RunNews["type"], word: string, text: string): RunNews => ({
    type,
    title: `${word}: ${about}`,
    text: cut(safeText(text)),
    url,
    runId: id,
  });
  switch (status) {
    case "completed":
      return tell("run.completed", "Done", answer ?? "");
    case "failed":
      return tell("run.failed", "Failed", error?.message ?? "");
    case "canceled":
      return tell("run.canceled", "Canceled", "");
    case "input-required":
    case "auth-required":
      return tell("run.waiting", "Waiting for you", question ?? "");
    default:
      return undefined;
  }
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)}\n[cut off; the run has all of it]`;
}

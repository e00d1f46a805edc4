import { AppError } from "../../../core/errors.ts";
import type { FoundElement } from "../find-element.ts";
import { describeCover } from "../in-page/describe-cover.ts";

const reasons: readonly (readonly [pattern: RegExp, code: "conflict" | "invalid_input", text: string])[] = [
  [
    /not attached|detached from|is not connected|context was destroyed/i,
    "conflict",
    "is no longer valid: it left the page meanwhile. Look again and use the new refs",
  ],
  [/element is not enabled|is disabled/, "conflict", "is disabled. Do first what enables it"],
  [/element is not visible/, "conflict", "is not visible. Open or scroll to what holds it, then look again"],
  [/outside of the viewport/, "conflict", "cannot be scrolled into view"],
  [/element is not stable/, "conflict", "does not stop moving. Wait, then try again"],
  [/not an <input>|Cannot type text into input/, "invalid_input", "takes no text. Give the ref of a text field"],
  [/not a <select>/, "invalid_input", "is not a dropdown of the browser. Click it, look, then click the entry"],
  [/Not a checkbox or radio/, "invalid_input", "is no checkbox or radio button. Click it instead"],
  [
    /Malformed value/,
    "invalid_input",
    "does not take this value: a date is written 2026-01-31, a time 13:05, a month 2026-01, a week 2026-W05, a colour #rrggbb",
  ],
  [/did not find some options/, "invalid_input", "has no such option; browser_get_dropdown_options lists them"],
  [/element is not editable|readonly/, "conflict", "is read-only. Click it, or the button beside it, for what sets it"],
];

/** What went wrong with an act, as an error that says what to do next. What is not known stays as it is. */
export async function explainFailure(error: unknown, elements: readonly FoundElement[]): Promise<unknown> {
  const element = elements.at(-1);
  if (error instanceof AppError || !(error instanceof Error) || element === undefined) return error;
  const what = element.label;
  const covered = /intercepts pointer events/.test(error.message);
  if (covered || /element is not stable/.test(error.message)) {
    const cover = await element.handle.evaluate(describeCover).catch(() => "");
    const message = `${what} is covered by ${cover === "" ? "another element" : cover}. Close or move that first, or scroll.`;
    if (covered || cover !== "") return new AppError("conflict", message, { cause: error });
  }
  const reason = reasons.find(([pattern]) => pattern.test(error.message));
  if (reason === undefined) return error;
  const [, code, text] = reason;
  return new AppError(code, `${what} ${text}.`, { cause: error });
}

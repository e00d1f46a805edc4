import { type FlowView, newFlowView } from "./flow-lines.ts";
import { type LiveOutput, noOutput } from "./live-output.ts";
import { safeText } from "./safe-text.ts";
import { noTotals, type Totals } from "./totals.ts";

/**
 * The renderer's state between items. It is a value: rendering is a function of it and the next
 * item.
 */
export type TerminalView = {
  /** What the open line belongs to; `none` at the start of a line. */
  readonly open: "none" | "text" | "reasoning" | "output";
  readonly atLineStart: boolean;
  /** Whether the model's current answer was streamed. */
  readonly streamed: boolean;
  readonly lastText: string;
  readonly running: number;
  readonly output: LiveOutput;
  /** The question last shown. */
  readonly question: string | undefined;
  readonly flow: FlowView;
  /** Whether it has shown that a spending limit cannot be enforced: every agent reports it. */
  readonly boundTold: boolean;
  /** The artifacts already shown. */
  readonly texts: readonly string[];
  readonly totals: Totals;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
};

/** What is written for an item, and the view after it. */
export type Rendered = { readonly view: TerminalView; readonly text: string };

/** The view before the first item. */
export const newView: TerminalView = {
  open: "none",
  atLineStart: true,
  streamed: false,
  lastText: "",
  running: 0,
  output: noOutput,
  question: undefined,
  flow: newFlowView,
  boundTold: false,
  texts: [],
  totals: noTotals,
  startedAt: undefined,
  endedAt: undefined,
};

/** Whole lines, after ending an open line. */
export function lines(view: TerminalView, shown: readonly string[]): Rendered {
  const end = view.atLineStart ? "" : "\n";
  return {
    view: { ...view, open: "none", atLineStart: true },
    text: end + shown.map((line) => `${line.trimEnd()}\n`).join(""),
  };
}

/** A piece of streamed text of one kind; `wrap` formats each piece of a line. */
export function stream(
  view: TerminalView,
  kind: "text" | "reasoning",
  delta: string,
  wrap: (line: string) => string,
): Rendered {
  let text = view.open === kind || view.atLineStart ? "" : "\n";
  let atLineStart = view.open === kind ? view.atLineStart : true;
  for (const [index, piece] of safeText(delta).split("\n").entries()) {
    if (index > 0) {
      text += "\n";
      atLineStart = true;
    }
    if (piece === "") continue;
    text += atLineStart ? wrap(piece) : wrap(piece).slice(2);
    atLineStart = false;
  }
  return { view: { ...view, open: kind, atLineStart }, text };
}

/** The lines of a text, each moved in. */
export function indented(text: string): string[] {
  return safeText(text)
    .trim()
    .split("\n")
    .map((line) => `  ${line}`);
}

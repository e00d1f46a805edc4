import type { FlowEvent } from "@manyhands/shared/agent/flow-events";
import { planLines } from "./plan-lines.ts";
import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

const marks = { completed: ["green", "✓"], failed: ["red", "✗"], blocked: ["yellow", "!"] } as const;

/** What an event of a flow is shown as: its line, and the plan where it tells one. */
export function flowLines(event: FlowEvent, style: Style): string[] {
  const note = safeLine(event.note, style.columns - 4);
  switch (event.type) {
    case "plan-changed":
      return [`${paint(style, "bold", "●")} ${note}`, ...planLines(event.text, style)];
    case "step-ended": {
      const [colour, mark] = marks[event.outcome];
      return [`  ${paint(style, colour, mark)} ${note}`];
    }
    case "step-assigned":
      return [`  ${paint(style, "cyan", "→")} ${note}`];
    default:
      return [`  ${paint(style, "dim", `· ${note}`)}`];
  }
}

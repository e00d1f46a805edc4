import type { FlowEvent } from "@manyhands/shared/agent/flow-events";
import { planLines } from "./plan-lines.ts";
import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

const marks = {
  completed: ["green", "✓"],
  passed: ["green", "✓"],
  failed: ["red", "✗"],
  not_passed: ["yellow", "↻"],
  blocked: ["yellow", "!"],
  canceled: ["dim", "-"],
} as const;

type Mark = readonly [colour: Parameters<typeof paint>[1], mark: string];

/** What an event of a flow is shown as: its line, and the plan where it tells one. */
export function flowLines(event: FlowEvent, style: Style): string[] {
  const note = safeLine(event.note, style.columns - 4);
  const line = ([colour, mark]: Mark) => `  ${paint(style, colour, mark)} ${note}`;
  switch (event.type) {
    case "plan-changed":
      return [`${paint(style, "bold", "●")} ${note}`, ...planLines(event.text, style)];
    case "round-begun":
    case "verdict-given":
      return [`${paint(style, "bold", "●")} ${note}`];
    case "step-ended":
    case "branch-ended":
    case "iteration-ended":
      return [line(marks[event.outcome])];
    case "policy-settled":
      return [line(marks[event.met ? "completed" : "failed"])];
    case "argument-made":
      return [line(marks.completed)];
    case "debater-absent":
      return [line(marks.blocked)];
    case "step-assigned":
    case "branch-begun":
    case "iteration-begun":
      return [line(["cyan", "→"])];
    default:
      return [`  ${paint(style, "dim", `· ${note}`)}`];
  }
}

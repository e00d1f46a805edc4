import type { FlowEvent } from "@manyhands/shared/core/events/flow-events";
import { planLines, planMarks } from "./plan-lines.ts";
import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

/** What of a flow is on the screen already. */
export type FlowView = {
  /** What was told last. */
  readonly note: string;
  /** The plan's steps, those at work as if they were not begun. */
  readonly plan: string;
  /** Agents that were given a step and not asked yet. */
  readonly assigned: readonly string[];
};

/** Nothing. */
export const newFlowView: FlowView = { note: "", plan: "", assigned: [] };

type Mark = readonly [colour: Parameters<typeof paint>[1], mark: string];

const begun: Mark = ["cyan", "→"];
const marks = {
  completed: ["green", "✓"],
  passed: ["green", "✓"],
  failed: ["red", "✗"],
  not_passed: ["yellow", "↻"],
  blocked: ["yellow", "!"],
  canceled: ["dim", "-"],
} as const satisfies Record<string, Mark>;

/**
 * What an event of a flow is shown as: its line, and the plan where it has changed by more than that a step was begun, which its line has told.
 */
export function flowLines(
  view: FlowView,
  event: FlowEvent,
  style: Style,
): { readonly view: FlowView; readonly lines: readonly string[] } {
  const note = safeLine(event.note, style.columns - 4);
  const told = { ...view, note: event.note };
  const line = ([colour, mark]: Mark) => ({ view: told, lines: [`  ${paint(style, colour, mark)} ${note}`] });
  const head = `${paint(style, "bold", "●")} ${note}`;
  switch (event.type) {
    case "plan-changed": {
      const plan = planMarks(event.text).replaceAll("→", " ");
      const heads = event.note === view.note ? [] : [head];
      return {
        view: { ...told, plan },
        lines: [...heads, ...(plan === view.plan ? [] : planLines(event.text, style))],
      };
    }
    case "round-begun": {
      const room = style.columns - 6;
      const held = (event.positions ?? []).map(
        ({ debater, agent, position }) => `    ${safeLine(`${debater} (${agent}): ${position}`, room)}`,
      );
      return { view: told, lines: [head, ...held] };
    }
    case "verdict-given":
      return { view: told, lines: [head] };
    case "step-ended":
    case "branch-ended":
    case "iteration-ended":
      return line(marks[event.outcome]);
    case "policy-settled":
      return line(marks[event.met ? "completed" : "failed"]);
    case "argument-made":
      return line(marks.completed);
    case "debater-absent":
      return line(marks.blocked);
    case "step-assigned":
    case "branch-begun":
    case "iteration-begun":
      return { ...line(begun), view: { ...told, assigned: [...view.assigned, event.agent] } };
    default:
      return { view: told, lines: [`  ${paint(style, "dim", `· ${note}`)}`] };
  }
}

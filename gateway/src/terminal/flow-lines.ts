import type { FlowEvent } from "@manyhands/shared/agent/flow-events";
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

const marks = { completed: ["green", "✓"], failed: ["red", "✗"], blocked: ["yellow", "!"] } as const;

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
  switch (event.type) {
    case "plan-changed": {
      const plan = planMarks(event.text).replaceAll("→", " ");
      const head = event.note === view.note ? [] : [`${paint(style, "bold", "●")} ${note}`];
      return { view: { ...told, plan }, lines: [...head, ...(plan === view.plan ? [] : planLines(event.text, style))] };
    }
    case "step-ended": {
      const [colour, mark] = marks[event.outcome];
      return { view: told, lines: [`  ${paint(style, colour, mark)} ${note}`] };
    }
    case "step-assigned": {
      const assigned = [...view.assigned, event.agent];
      return { view: { ...told, assigned }, lines: [`  ${paint(style, "cyan", "→")} ${note}`] };
    }
    default:
      return { view: told, lines: [`  ${paint(style, "dim", `· ${note}`)}`] };
  }
}

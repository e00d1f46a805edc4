import type { ReadFlowEvent } from "manyhands/internal/core/events/events";
import * as z from "zod";
import { safeLine } from "./safe-text.ts";
import { paint, type Style } from "./style.ts";

/** What the screen already shows of a flow. */
export type FlowView = {
  /** The last note. */
  readonly note: string;
  /** The plan items; those in progress count as not started. */
  readonly plan: string;
  /** Agents that were assigned a plan item and not asked yet. */
  readonly assigned: readonly string[];
};

/** Before the first event. */
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
 * The lines for an event of a flow: its note, and the plan when it changed. The start of a plan
 * item is no change: its note says so already.
 */
export function flowLines(
  view: FlowView,
  event: ReadFlowEvent,
  style: Style,
): { readonly view: FlowView; readonly lines: readonly string[] } {
  const note = safeLine(event.note, style.columns - 4);
  const told = { ...view, note: event.note };
  const line = ([colour, mark]: Mark) => ({ view: told, lines: [`  ${paint(style, colour, mark)} ${note}`] });
  const head = `${paint(style, "bold", "●")} ${note}`;
  const { outcome, agent } = event.data;
  const mark =
    typeof outcome === "string" && Object.hasOwn(marks, outcome) ? marks[outcome as keyof typeof marks] : undefined;
  if (event.of === "plan-changed" && typeof event.data.text === "string") {
    const plan = planMarks(event.data.text).replaceAll("→", " ");
    const heads = event.note === view.note ? [] : [head];
    return {
      view: { ...told, plan },
      lines: [...heads, ...(plan === view.plan ? [] : planLines(event.data.text, style))],
    };
  }
  if (event.of === "round-begun") return { view: told, lines: [head, ...positionLines(event.data, style)] };
  if (event.of === "verdict-given") return { view: told, lines: [head] };
  if (mark !== undefined) return line(mark);
  if (event.data.begun !== true) return { view: told, lines: [`  ${paint(style, "dim", `· ${note}`)}`] };
  const assigned = typeof agent === "string" ? [...view.assigned, agent] : view.assigned;
  return { ...line(begun), view: { ...told, assigned } };
}

const positions = z.array(z.object({ debater: z.string(), agent: z.string(), position: z.string() }));

/** The debaters and their positions, announced in the first round of a debate. */
function positionLines(data: ReadFlowEvent["data"], { columns }: Style): string[] {
  const held = positions.safeParse(data.positions).data ?? [];
  return held.map(
    ({ debater, agent, position }) => `    ${safeLine(`${debater} (${agent}): ${position}`, columns - 6)}`,
  );
}

const colours = { " ": "dim", "→": "cyan", "✓": "green", "!": "yellow" } as const;

const stepLine = /^\d+\. \[([ →✓!])\] (.*)$/gmu;

/**
 * The plan items in a `planning` result, one line each with its mark; none if it has no plan.
 */
export function planLines(result: string, style: Style): string[] {
  return [...result.matchAll(stepLine)].map(([, mark = " ", step = ""]) => {
    const colour = colours[mark as keyof typeof colours];
    return `    ${paint(style, colour, `[${mark}] ${safeLine(step, style.columns - 10)}`)}`;
  });
}

/** The same items and marks, for comparison with another result. */
function planMarks(result: string): string {
  return [...result.matchAll(stepLine)].map(([, mark = " ", step = ""]) => `${mark} ${step}`).join("\n");
}

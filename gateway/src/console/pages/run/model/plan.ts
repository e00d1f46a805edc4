import type { FlowSent } from "../../../api/events.ts";

/** The states of a plan item. */
export type PlanState = "not_started" | "in_progress" | "completed" | "blocked";

/** An item of a plan. */
export type PlanItem = {
  readonly id: string;
  readonly text: string;
  readonly agent: string;
  readonly dependsOn: readonly string[];
  readonly status: PlanState;
  readonly notes: string;
};

const states: readonly string[] = ["not_started", "in_progress", "completed", "blocked"];

/** The plan in an event that a planning flow emitted; undefined for any other. */
export function planOf({ type, data }: FlowSent): readonly PlanItem[] | undefined {
  const steps = data?.steps;
  if (type !== "plan-changed" || !Array.isArray(steps)) return undefined;
  return steps.map((step: Record<string, unknown>, at) => ({
    id: textOr(step.id, String(at + 1)),
    text: textOr(step.text, ""),
    agent: textOr(step.agent, ""),
    dependsOn: Array.isArray(step.dependsOn) ? step.dependsOn.map(String) : [],
    status: (states.includes(String(step.status)) ? step.status : "not_started") as PlanState,
    notes: textOr(step.notes, ""),
  }));
}

function textOr(value: unknown, other: string): string {
  return typeof value === "string" ? value : other;
}

/**
 * The items in columns, each right of all that it depends on. Items that depend on each other in a
 * circle come last.
 */
export function planColumns(items: readonly PlanItem[]): readonly (readonly PlanItem[])[] {
  const column = new Map<string, number>();
  const known = new Set(items.map(({ id }) => id));
  for (let round = 0; round < items.length; round++)
    for (const { id, dependsOn } of items) {
      const before = dependsOn.filter((one) => known.has(one));
      if (before.every((one) => column.has(one)) && !column.has(id))
        column.set(id, 1 + Math.max(-1, ...before.map((one) => column.get(one) ?? 0)));
    }
  const last = 1 + Math.max(-1, ...column.values());
  const columns: PlanItem[][] = [];
  for (let at = 0; at <= last; at++) columns.push(items.filter(({ id }) => (column.get(id) ?? last) === at));
  return columns.filter((one) => one.length > 0);
}

import { expect, test } from "bun:test";
import { sentEvent } from "manyhands/internal/core/read-event";
import { timelineEntry } from "./timeline-entry.js";

const agent = "manus";
const told = {
  "agent-chosen": { wanted: "skill:charts", agent, reason: "fits" },
  "step-assigned": { step: "1", agent, attempt: 1, begun: true },
  "step-ended": { step: "1", agent, attempt: 1, outcome: "blocked", reason: "no password" },
  "plan-changed": { text: "the plan", steps: [] },
  "branch-ended": { branch: "1", agent, outcome: "canceled" },
  "policy-settled": { policy: "any of 2", met: true, reason: "one is enough", outcome: "completed" },
  "choice-made": { choice: "data", by: "rule", reason: "orders.csv fits *.csv" },
  "iteration-ended": { iteration: 1, agent, outcome: "not_passed", feedback: "too long" },
  "argument-made": { round: 1, argument: 1, debater: "A", agent, outcome: "completed" },
  "debater-absent": { round: 1, debater: "B", agent, reason: "late", outcome: "blocked" },
  "verdict-given": { judge: "model", decision: "yes", confidence: 1, dissent: "the cost", citations: [1] },
  "tide-turned": { height: 3, outcome: "completed" },
};
const note = `What is told. ${"Word ".repeat(80)}end`;

test.each(Object.entries(told))("the flow event %s has a line, with a mark and its full text", (type, data) => {
  const entry = timelineEntry({ type, note, data });
  expect(entry?.mark).toMatch(/^\S$/);
  expect(entry?.line).toStartWith("What is told.");
  expect(entry?.more).toBe(type === "plan-changed" ? "the plan" : note);
});

test.each(Object.entries(told))("%s as earlier versions stored it looks the same", (type, { ...data }) => {
  const [now, before] = [
    timelineEntry({ type, note, data }),
    timelineEntry(sentEvent({ type, note, ...withoutNew(type, data) }) as Parameters<typeof timelineEntry>[0]),
  ];
  expect(before).toEqual(now);
});

/** The data without what earlier versions left to the type. */
function withoutNew(type: string, { begun: _, outcome, ...data }: Record<string, unknown>) {
  const isNew = ["policy-settled", "argument-made", "debater-absent"].includes(type);
  return { ...data, ...(!isNew && outcome !== undefined && { outcome }) } as { [key: string]: string };
}

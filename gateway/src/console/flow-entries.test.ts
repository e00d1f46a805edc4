import { expect, test } from "bun:test";
import type { FlowEvent } from "@manyhands/shared/core/events/flow-events";
import { timelineEntry } from "./timeline-entry.js";

const agent = "manus";
/** One of each: what is missing here does not compile. */
const told: { [Type in FlowEvent["type"]]: Omit<Extract<FlowEvent, { type: Type }>, "type" | "note"> } = {
  "agent-chosen": { wanted: "skill:charts", agent, reason: "fits" },
  "step-assigned": { step: "1", agent, attempt: 1 },
  "step-ended": { step: "1", agent, attempt: 1, outcome: "blocked", reason: "no password" },
  "plan-changed": { text: "the plan", steps: [] },
  "branch-begun": { branch: "1", agent },
  "branch-ended": { branch: "1", agent, outcome: "canceled" },
  "policy-settled": { policy: "any of 2", met: true, reason: "one is enough" },
  "choice-made": { choice: "data", by: "rule", reason: "orders.csv fits *.csv" },
  "iteration-begun": { iteration: 1, agent },
  "iteration-ended": { iteration: 1, agent, outcome: "not_passed", feedback: "too long" },
  "round-begun": { round: 1 },
  "argument-made": { round: 1, argument: 1, debater: "A", agent },
  "debater-absent": { round: 1, debater: "B", agent, reason: "late" },
  "round-ended": { round: 1, agreed: false, reason: "they differ" },
  "verdict-given": { judge: "model", decision: "yes", confidence: 1, dissent: "the cost", citations: [1] },
};

test.each(Object.entries(told))("%s of a flow has a line, with a mark and all it says", (type, facts) => {
  const note = `What is told. ${"Word ".repeat(80)}end`;
  const entry = timelineEntry({ type, note, ...facts });
  expect(entry?.mark).toMatch(/^\S$/);
  expect(entry?.line).toStartWith("What is told.");
  expect(entry?.more).toBe(type === "plan-changed" ? "the plan" : note);
});

import { expect, test } from "bun:test";
import { flowExtension, flowRequest } from "manyhands/internal/flow/flow-request";
import { inputForTest } from "manyhands/internal/testing/flow";
import { flows } from "./flows.ts";

test("every flow has its own name", () => {
  const names = flows.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["planning", "sequential", "parallel", "conditional", "loop", "debate"]),
  );
  expect(new Set(names).size).toBe(names.length);
});

test("each flow's example is a valid request, and its card describes the settings", () => {
  for (const flow of flows) {
    const { files: _, ...example } = flow.example;
    expect(flowRequest(flow, inputForTest(example))).toMatchObject({ goal: flow.example.text });
    const { settings } = flowExtension(flow).params;
    expect([flow.name, settings.properties.options.type]).toEqual([flow.name, "object"]);
    // Optional options are not required.
    expect([flow.name, settings.properties.options.required]).toEqual([flow.name, undefined]);
  }
});

/** What a flow does where a caller sets nothing. */
const defaults: Readonly<Record<string, object>> = {
  planning: { approve: false, concurrency: 4, attempts: 2, replans: 2, maxSteps: 20 },
  sequential: { onFailure: "stop" },
  parallel: { policy: "all", rest: "cancel", concurrency: 8, aggregate: "concatenate" },
  conditional: { classify: "both", unsure: "default", confidence: 0.5 },
  loop: { instruction: "{goal}", maxIterations: 5 },
  debate: { rounds: 3, converge: true, turnDeadlineMs: 300_000, concurrency: 5 },
};

test.each(flows.map((flow) => [flow.name, flow] as const))("%s has its own defaults", (name, flow) => {
  expect(flow.options.parse({})).toEqual(defaults[name] as never);
});

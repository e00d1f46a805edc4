import { expect, test } from "bun:test";
import { flowExtension } from "manyhands/internal/flow/flow-extension";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import { inputForTest } from "manyhands/internal/testing/flow";
import * as z from "zod";
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

const day = 86_400_000;
const assigned = (at: string) => ({ [`${at}.settings.agents`]: [1, 50], [`${at}.deadlineMs`]: [100, day] });

/**
 * The least and the most of what a caller may set: of numbers, of lists, and of texts that have a
 * most.
 */
const bounds: Readonly<Record<string, Readonly<Record<string, readonly unknown[]>>>> = {
  planning: {
    ...{ concurrency: [1, 20], attempts: [1, 5], replans: [0, 5], maxSteps: [1, 50] },
    stepDeadlineMs: [1000, undefined],
  },
  sequential: { steps: [1, 50], "steps[].settings.agents": [1, 50] },
  parallel: {
    ...{ branches: [1, 50], ...assigned("branches[]"), items: [1, 100], quorum: [1, 100] },
    ...{ concurrency: [1, 50], deadlineMs: [100, day] },
  },
  conditional: {
    ...{ branches: [1, 20], "branches[].name": [1, 60], "branches[].rules": [undefined, 50] },
    ...{ "branches[].rules[].keywords": [1, undefined], "branches[].rules[].regex": [1, 1_000] },
    ...{ ...assigned("branches[]"), confidence: [0, 1] },
  },
  loop: {
    ...{ "settings.agents": [1, 50], "until.settings.agents": [1, 50], maxIterations: [1, 20] },
    deadlineMs: [100, day],
  },
  debate: {
    ...{ positions: [2, 10], "positions[].name": [1, 40], "positions[].settings.agents": [1, 50] },
    ...{ debaters: [2, 10], rounds: [1, 8], turnDeadlineMs: [100, day], concurrency: [1, 10] },
  },
};

/** Texts that may be empty; what else is said of them is in their own words. */
const mayBeEmpty: Readonly<Record<string, readonly string[]>> = {
  conditional: ["branches[].when", "branches[].rules[].data.path"],
};

/** A part of a JSON schema, as far as bounds go. */
type Shape = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
} & Readonly<Partial<Record<"minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems", number>>>;

/**
 * The bounds in a schema, the texts in it that may be empty, and its objects that take any field.
 */
function boundsIn(whole: Shape) {
  const bounds: Record<string, readonly unknown[]> = {};
  const [empty, open]: [string[], string[]] = [[], []];
  const walk = (one: Shape, path: string): void => {
    const { minimum, maximum, minLength, maxLength, minItems, maxItems, properties = {}, items } = one;
    const [least, most] = [minimum ?? minLength ?? minItems, maximum ?? maxLength ?? maxItems];
    const given = [least, most].map((bound) => (Math.abs(bound ?? 0) < Number.MAX_SAFE_INTEGER ? bound : undefined));
    if (one.type !== "string" ? given.some((bound) => bound !== undefined) : most !== undefined) bounds[path] = given;
    if (one.type === "string" && minLength === undefined && !("enum" in one) && !("const" in one)) empty.push(path);
    if (one.properties !== undefined && one.additionalProperties !== false) open.push(path);
    for (const [key, below] of Object.entries(properties)) walk(below, path === "" ? key : `${path}.${key}`);
    if (items !== undefined) walk(items, `${path}[]`);
    for (const way of [...(one.anyOf ?? []), ...(one.oneOf ?? [])]) walk(way, path);
  };
  walk(whole, "");
  return { bounds, empty, open };
}

test.each(flows.map((flow) => [flow.name, flow] as const))(
  "%s takes no option that it does not have, and none beyond its bounds",
  (name, flow) => {
    const schema = z.toJSONSchema(flow.options, { io: "input" }) as Shape;
    expect(boundsIn(schema)).toEqual({ bounds: bounds[name] ?? {}, empty: [...(mayBeEmpty[name] ?? [])], open: [] });
  },
);

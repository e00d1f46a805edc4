import { expect, test } from "bun:test";
import * as z from "zod";
import { defineFlow } from "../core/flow.ts";
import type { Part } from "../core/message.ts";
import { flowRequest } from "./flow-request.ts";

const flow = defineFlow({
  name: "tried",
  title: "Tried",
  description: "For a test.",
  version: "1.0.0",
  skills: [],
  options: z.strictObject({ rounds: z.int().min(1).max(5).default(2), mode: z.enum(["any", "all"]).default("all") }),
  example: { text: "Try" },
  check: ({ agents, options }) =>
    options.rounds > 4 && agents === undefined ? "options.rounds: more than 4 need named agents" : undefined,
  perform: async () => ({ answer: "" }),
});
const text: Part = { type: "text", text: "Go" };
const file: Part = { type: "file", sha256: "0", name: "a.csv", mediaType: "text/csv", size: 3 };
const data = (value: Extract<Part, { type: "data" }>["data"]): Part => ({ type: "data", data: value });

test("a message is a goal, what belongs to it, and settings with defaults", () => {
  const parts = [text, file, data({ agents: ["swe"], options: { rounds: 1 } }), data({ rows: 3 })];
  expect(flowRequest(flow, { parts })).toEqual({
    goal: "Go",
    files: [file, data({ rows: 3 })],
    agents: ["swe"],
    options: { rounds: 1, mode: "all" },
  });
  expect(flowRequest(flow, { parts: [text] })).toEqual({ goal: "Go", files: [], options: { rounds: 2, mode: "all" } });
});

test("what is wrong is named with what is allowed", () => {
  const cases: [Part[], string][] = [
    [[file], "message: say in a text what is to be done."],
    [[text, data({ options: { rounds: 9 } })], "options.rounds: Too big: expected number to be <=5."],
    [[text, data({ options: { mode: "x" } })], 'options.mode: Invalid option: expected one of "any"|"all".'],
    [[text, data({ options: { round: 1 } })], "options.round: is not known; there are rounds, mode."],
    [[text, data({ agents: [] })], "agents: Too small: expected array to have >=1 items."],
    [[text, data({ agents: ["a"], model: "m" })], "model: is not known; there are agents, options."],
    [
      [text, data({ agents: ["a"] }), data({ options: {} })],
      "message: only one data part may hold `agents` and `options`.",
    ],
    [[text, data({ options: { rounds: 5 } })], "options.rounds: more than 4 need named agents."],
  ];
  for (const [parts, message] of cases) expect(() => flowRequest(flow, { parts })).toThrow(message);
});

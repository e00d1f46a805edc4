import { expect, test } from "bun:test";
import * as z from "zod";
import { defineFlow } from "../core/flow.ts";
import type { Json } from "../core/json.ts";
import type { Part, UserMessage } from "../core/message.ts";
import { admitToFlow, flowRequest } from "./flow-request.ts";

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

const message = (parts: readonly Part[], set?: Json): UserMessage => ({
  messageId: "m",
  parts,
  ...(set !== undefined && { metadata: { "manyhands/flow": set } }),
});
/** The request that the edge accepts from a message, and then the run. */
const asked = (parts: readonly Part[], set?: Json) => {
  const received = message(parts, set);
  return flowRequest(flow, { message: received, flow: admitToFlow(flow, received) });
};

test("a message becomes a goal, its files and data, and settings with defaults", () => {
  expect(asked([text, file, data({ rows: 3 })], { agents: ["swe"], options: { rounds: 1 } })).toEqual({
    goal: "Go",
    files: [file, data({ rows: 3 })],
    agents: ["swe"],
    options: { rounds: 1, mode: "all" },
  });
  expect(asked([text])).toEqual({ goal: "Go", files: [], options: { rounds: 2, mode: "all" } });
});

test("the task's data is never read as settings, whatever its keys", () => {
  const rows = [data({ options: { rounds: 9 } }), data({ agents: [] }), data({ agents: ["x"], options: "y" })];
  expect(asked([text, ...rows], { options: { rounds: 3 } })).toEqual({
    goal: "Go",
    files: rows,
    options: { rounds: 3, mode: "all" },
  });
  expect(asked([text, ...rows])).toMatchObject({ files: rows, options: { rounds: 2 } });
});

test("an option that the flow does not have is refused, unless its schema takes any; a run that has one goes on", () => {
  const rounds = z.int().default(2);
  const admit = (options: z.ZodObject) => admitToFlow({ options }, message([text], { options: { rouns: 3 } }));
  expect(() => admit(z.object({ rounds }))).toThrow("options.rouns: is not known; there are rounds.");
  expect(admit(z.looseObject({ rounds })).options).toEqual({ rouns: 3 });
  const accepted = { message: message([text]), flow: { options: { rouns: 3 } } };
  expect(flowRequest({ options: z.object({ rounds }) }, accepted).options).toEqual({ rounds: 2 });
});

test("the settings of a run accepted by an earlier version are read from its data part", () => {
  const parts = [text, data({ rows: 3 }), data({ agents: ["swe"], options: { rounds: 1 } }), file];
  expect(flowRequest(flow, { message: message(parts) })).toEqual({
    goal: "Go",
    files: [data({ rows: 3 }), file],
    agents: ["swe"],
    options: { rounds: 1, mode: "all" },
  });
  expect(flowRequest(flow, { message: message([text]) })).toMatchObject({ options: { rounds: 2, mode: "all" } });
});

test("of an earlier version's data the first that has agents or options is settings, and all words are the goal", () => {
  const plain = [data(null), data("agents"), data(["agents"]), data({ rows: 1 })];
  for (const set of [{ agents: ["swe"] }, { options: { rounds: 1 } }]) {
    const second = data({ agents: ["manus"] });
    const read = flowRequest(flow, { message: message([...plain, text, data(set), second, text]) });
    expect(read).toMatchObject({ goal: "Go\n\nGo", files: [...plain, second] });
    expect([read.agents, read.options.rounds]).toEqual("agents" in set ? [["swe"], 2] : [undefined, 1]);
  }
});

test("a flow that needs no text takes anything but nothing, and what a flow has set holds where a caller sets nothing", () => {
  const admit = (parts: readonly Part[], set?: Json) => admitToFlow({ ...flow, textless: true }, message(parts, set));
  expect(admit([file])).toEqual({});
  expect(() => admit([])).toThrow("say in a text");
  for (const blank of ["", " \n"])
    expect(() => admitToFlow(flow, message([file, { type: "text", text: blank }]))).toThrow("say in a text");
  expect(() => admit([text], { options: { rounds: 9 } })).toThrow("options.rounds");
  const settled = { ...flow, settings: { agents: ["swe"], options: { rounds: 1 } } };
  const over = (set?: Json) => admitToFlow(settled, message([text], set));
  expect(over()).toEqual({ agents: ["swe"], options: { rounds: 1 } });
  expect(over({ options: { mode: "any" } })).toEqual({ agents: ["swe"], options: { rounds: 1, mode: "any" } });
  expect(over({ agents: ["manus"], options: { rounds: 3 } })).toEqual({ agents: ["manus"], options: { rounds: 3 } });
  expect(admitToFlow({ ...flow, settings: { agents: ["swe"] } }, message([text]))).toEqual({ agents: ["swe"] });
});

test("an error names the wrong value and the allowed ones", () => {
  const cases: [Part[], Json | undefined, string][] = [
    [[file], undefined, "message: say in a text what is to be done."],
    [[text], { options: { rounds: 9 } }, "options.rounds: Too big: expected number to be <=5."],
    [[text], { options: { mode: "x" } }, 'options.mode: Invalid option: expected one of "any"|"all".'],
    [[text], { options: { round: 1 } }, "options.round: is not known; there are rounds, mode."],
    [[text], { agents: [] }, "agents: Too small: expected array to have >=1 items."],
    [[text], { agents: ["a"], model: "m" }, "model: is not known; there are agents, options."],
    [[text], "swe", "message: Invalid input: expected object, received string"],
    [[text], { options: { rounds: 5 } }, "options.rounds: more than 4 need named agents."],
  ];
  for (const [parts, set, fault] of cases) expect(() => asked(parts, set)).toThrow(fault);
});

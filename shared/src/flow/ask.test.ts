import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { AskRequest } from "../a2a/ask/ask.ts";
import * as asking from "../a2a/ask/ask-agent.ts";
import type { Peers } from "../a2a/ask/peers.ts";
import { AppError } from "../core/errors.ts";
import type { AskOutcome } from "../core/events/ask-outcome.ts";
import type { AskMessage, AskOptions } from "../core/flow.ts";
import type { Run } from "../core/runs/run.ts";
import { entryForTest } from "../testing/flow.ts";
import { ask, isFinal, outcomeText } from "./ask.ts";
import { newState, type StartedFlow } from "./flow-state.ts";

afterEach(() => mock.restore());

const limits = { asks: 9, tokens: 1_000, usd: 2, wallMs: 60_000 };
const usage = { tokens: 100, usd: 0.5, unpriced: false };
type Answer = Partial<AskOutcome> | Error;

/**
 * A flow whose agents answer so in turn; its state, what they were asked, and for how long it
 * paused.
 */
function flowAsking(...answers: readonly Answer[]) {
  const requests: AskRequest[] = [];
  const pauses: number[] = [];
  const read: string[] = [];
  spyOn(asking, "askAgent").mockImplementation(async (_, request) => {
    const answer = answers[requests.push(request) - 1] ?? {};
    if (answer instanceof Error) throw answer;
    return {
      agent: request.agent.name,
      taskId: "t",
      contextId: "c",
      state: "completed",
      answer: "",
      files: [],
      ...answer,
    };
  });
  const run = {
    step: async (_: string, work: (step: object) => unknown) => work({ now: () => 0, signal: undefined }),
    sleep: async (ms: number) => void pauses.push(ms),
  } as unknown as Run;
  const entries = [entryForTest("swe", "http://swe")];
  const known = [...entries, { ...entryForTest("debate", "http://debate"), kind: "flow" as const }];
  const begun = { goal: "Go", files: [], earlier: {}, startedAt: 0, limits, entries, known };
  const outputSchema = { type: "object" };
  const state = newState(begun as unknown as StartedFlow, { hops: 3, said: ["Buy"], takenIn: ["bash"], outputSchema });
  const agents = {
    list: async () => known,
    read: async (url: string) => {
      read.push(url);
      return entryForTest("stranger", url);
    },
  };
  return {
    ...{ state, requests, pauses, read, agents },
    ask: (reference: string, message: AskMessage, options: AskOptions = {}) =>
      ask(run, state, reference, message, options, { agents, peers: {} as Peers }),
  };
}

const whole = { budget: { tokens: 1_000, usd: 2, wallMs: 60_000 }, deadlineMs: 60_000 };
const first = { hops: 3, said: ["Buy"], takenIn: ["bash"] };
const words = (text: string) => ({ type: "text", text }) as const;
const data = { type: "data", data: { a: 1 } } as const;

test.each<readonly [string, AskMessage, AskOptions, object]>([
  ["words", { text: "Do it" }, {}, { parts: [words("Do it")] }],
  ["words and data", { text: "Do it", parts: [data] }, {}, { parts: [words("Do it"), data] }],
  ["data alone", { text: "", parts: [data] }, {}, { parts: [data] }],
  ["nothing", { text: "" }, {}, { parts: [words("")] }],
  ["settings", { text: "x", settings: { agents: ["one"] } }, {}, { parts: [words("x")], flow: { agents: ["one"] } }],
  ["a deadline", { text: "x" }, { deadlineMs: 700 }, { parts: [words("x")], deadlineMs: 700 }],
  ["a conversation", { text: "x" }, { contextId: "k" }, { parts: [words("x")], contextId: "k" }],
  [
    "the flow's answer to give",
    { text: "x" },
    { isAnswer: true },
    { parts: [words("x")], isAnswer: true, outputSchema: { type: "object" } },
  ],
  [
    "a form of its own",
    { text: "x" },
    { isAnswer: true, outputSchema: { type: "array" } },
    { parts: [words("x")], isAnswer: true, outputSchema: { type: "array" } },
  ],
])(
  "an agent is asked with %s, and nothing else than its share and where the task comes from",
  async (_, message, options, sent) => {
    const flow = flowAsking();
    await flow.ask("swe", message, options);
    expect(flow.requests).toEqual([
      { agent: { name: "swe", url: "http://swe" }, ...first, ...whole, ...sent } as never,
    ]);
  },
);

test("what an agent took in counts from then on, its own name if it does not say, and never for an ask before it", async () => {
  const flow = flowAsking({ takenIn: ["shop.example"] }, {});
  for (const text of ["one", "two", "three"]) {
    await flow.ask("swe", { text });
    flow.state.said.push(text);
  }
  expect(flow.requests.map(({ takenIn, said }) => [takenIn, said])).toEqual([
    [["bash"], ["Buy"]],
    [
      ["bash", "web", "shop.example"],
      ["Buy", "one"],
    ],
    [
      ["bash", "web", "shop.example", "swe"],
      ["Buy", "one", "two"],
    ],
  ]);
});

test("usage counts however an ask ends, and what was held for it is free again", async () => {
  const failed = { state: "failed", error: { code: "forbidden", message: "no" }, usage } as const;
  const flow = flowAsking({ usage }, failed, new Error("a bug"));
  await flow.ask("swe", { text: "x" });
  await flow.ask("swe", { text: "x" });
  await expect(flow.ask("swe", { text: "x" })).rejects.toThrow("a bug");
  expect(flow.state).toMatchObject({ spent: { tokens: 200, usd: 1 }, reserved: { tokens: 0, usd: 0 }, underWay: 0 });
});

test("only what a completed answer of the flow holds is its data", async () => {
  const failed = { state: "failed", error: { code: "forbidden", message: "no" }, data: 2 } as const;
  const flow = flowAsking({ data: 1 }, failed, { data: 3 });
  await flow.ask("swe", { text: "x" }, { isAnswer: true });
  await flow.ask("swe", { text: "x" }, { isAnswer: true });
  await flow.ask("swe", { text: "x" });
  expect(flow.state.answerData).toBe(1);
});

test("an ask that is made once more takes nothing of what is kept for those after it", async () => {
  const busy = { state: "failed", error: { code: "rate_limited", message: "busy" } } as const;
  const flow = flowAsking(busy);
  flow.state.expected = 2;
  await flow.ask("swe", { text: "one" });
  await flow.ask("swe", { text: "two" });
  expect(flow.requests.map(({ budget }) => budget?.tokens)).toEqual([500, 500, 1_000]);
  expect([flow.pauses, flow.state.expected]).toEqual([[1_000], 0]);
});

test("an address is read unless somebody known is there, and a flow is not taken to remember", async () => {
  const flow = flowAsking(...Array(3).fill({ remembers: true }));
  const asked = [];
  for (const address of ["http://debate/", "http://swe", "http://new"])
    asked.push(await flow.ask(address, { text: "x" }));
  expect(flow.read).toEqual(["http://new"]);
  expect(asked.map(({ agent, remembers }) => [agent, remembers])).toEqual([
    ["debate", undefined],
    ["swe", true],
    ["stranger", true],
  ]);
});

test("an address whose card cannot be read is asked at all: why it fails is the outcome of the ask", async () => {
  const unreachable = { state: "failed", error: { code: "unavailable", message: "gone" } } as const;
  const flow = flowAsking(unreachable);
  flow.agents.read = () => Promise.reject(new AppError("unavailable", "gone"));
  expect(await flow.ask("http://gone/", { text: "x" })).toMatchObject({ agent: "http://gone/", ...unreachable });
  expect(flow.requests[0]?.agent).toEqual({ name: "http://gone/", url: "http://gone/" });
});

test("what a limit of the flow refuses is not asked", async () => {
  const flow = flowAsking();
  flow.state.asks = limits.asks;
  await expect(flow.ask("swe", { text: "x" })).rejects.toBeInstanceOf(AppError);
  expect(flow.requests).toEqual([]);
});

const failed = (code: string): Pick<AskOutcome, "state" | "error"> =>
  ({ state: "failed", error: { code, message: "why" } }) as Pick<AskOutcome, "state" | "error">;

test.each([
  ...["hop_limit", "unauthorized", "forbidden", "rejected", "unsupported", "too_large"].map(
    (code) => [code, true] as const,
  ),
  ...["unavailable", "storage_unavailable"].map((code) => [code, true] as const),
  ...["task_failed", "step_limit", "rate_limited", "timeout", "model_unavailable"].map(
    (code) => [code, false] as const,
  ),
])("an ask that failed with %s would fail the same way again: %p", (code, final) => {
  expect(isFinal(failed(code))).toBe(final);
});

test("what completed is not final, and neither is an end without an error", () => {
  expect(isFinal({ ...failed("forbidden"), state: "completed" })).toBe(false);
  expect(isFinal({ state: "canceled" } as AskOutcome)).toBe(false);
});

test("an outcome in words names the agent, its end and the error", () => {
  const outcome = (state: string, error?: object) => ({ agent: "swe", state, ...(error && { error }) }) as AskOutcome;
  expect(outcomeText(outcome("timed-out"))).toBe("swe did not answer in time");
  expect(outcomeText(outcome("canceled"))).toBe("swe canceled");
  expect(outcomeText(outcome("failed", { code: "timeout", message: "late" }))).toBe("swe failed: late");
});

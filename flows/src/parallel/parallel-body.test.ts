import { expect, test } from "bun:test";
import { AppError } from "manyhands";
import type { AskOutcome } from "manyhands/flows";
import { paperAnswer, paperFile, paperFlow } from "../testing/paper-flow.ts";
import { parallel } from "./parallel.ts";

const agents = ["one", "two"].map((name) => ({
  ...{ name, title: name, description: "", skills: [], url: "", kind: "agent" as const },
}));
const refused = { code: "forbidden", message: "no paper" } as const;
const failing = (files: AskOutcome["files"] = []) =>
  paperAnswer("half", { agent: "two", state: "failed", error: refused, files });

/** Performs the flow on paper, with its defaults unless these options say otherwise. */
async function performed(
  options: object,
  asked: readonly AskOutcome[],
  { written = ["All in all"], ...changes }: Parameters<typeof paperFlow>[0] & { readonly written?: string[] } = {},
) {
  const [expected, handedOn, reached, all, canceled]: [unknown[], unknown[], string[], unknown[], string[]] = [
    ...[[], [], [], [], []],
  ] as never;
  const { flow, shown } = paperFlow(
    {
      agents,
      expect: (...calls) => void expected.push(calls),
      handOn: (files) => void handedOn.push(...files.map(({ name }) => name)),
      reached: (text) => void reached.push(text),
      all: ((works: readonly ((each: unknown) => Promise<unknown>)[], how: { concurrency: number }) => {
        all.push(how.concurrency);
        return Promise.all(works.map((work) => work(flow)));
      }) as never,
      cancelOpen: async () => void canceled.push("open"),
      ...changes,
    },
    { asked, written },
  );
  const given = parallel.options.parse(options) as never;
  const end = await parallel.perform(flow, given).catch((error: unknown) => error as AppError);
  return { end, expected, handedOn, reached, all, canceled, asks: shown.asks, told: shown.told };
}
const answers = [paperAnswer("first"), paperAnswer("second", { agent: "two" })];

test.each([
  ["joins them itself", {}, 2, false],
  ["has its model write", { aggregate: "model" }, 2, true],
  ["asks an agent", { aggregate: "agent", aggregator: "editor" }, 3, false],
  [
    "asks an agent after one for each item",
    { aggregate: "agent", aggregator: "editor", items: ["a", "b", "c"] },
    4,
    false,
  ],
] as const)("a flow that %s keeps that part of its budget from the branches", async (_, options, asks, own) => {
  const { expected } = await performed(options, [...answers, paperAnswer("third"), paperAnswer("One")]);
  expect(expected).toEqual([[asks, { own }]]);
});

test("as many branches work at once as the caller allows, and what is left of them is canceled only if the caller lets it be", async () => {
  const any = { policy: "any", concurrency: 3 };
  const awaited = await performed({ ...any, rest: "await" }, answers);
  expect([awaited.all, awaited.canceled]).toEqual([[3], []]);
  expect(awaited.told.map(({ type }) => type)).toEqual([
    ...["branch-begun", "branch-begun"],
    ...["branch-ended", "policy-settled", "branch-ended"],
  ]);
  const canceled = await performed(any, answers);
  expect(canceled.canceled).toEqual(["open"]);
  expect(canceled.told.flatMap(({ type, data }) => (type === "branch-ended" ? [data] : []))).toMatchObject([
    { branch: "1", outcome: "completed" },
    { branch: "2", outcome: "canceled" },
  ]);
  expect((canceled.end as { answer: string }).answer).toBe("first");
});

test("a branch that ends first is taken first, whichever it is", async () => {
  const asks = [() => new Promise<never>(() => undefined), async () => paperAnswer("second")];
  const { end } = await performed({ policy: "any" }, [], { ask: (() => asks.shift()?.()) as never });
  expect((end as { answer: string }).answer).toBe("second");
});

test("a run that goes on takes the branches that ended first before, whichever end first now", async () => {
  const recorded = [1];
  const { run } = paperFlow().flow;
  const step = async (name: string, work: (step: object) => Promise<unknown>) =>
    name === "branch ended" ? (recorded.shift() ?? work({})) : work({});
  const { end, told } = await performed({ policy: "any" }, answers, { run: { ...run, step } as never });
  expect((end as { answer: string }).answer).toBe("second");
  expect(told.flatMap(({ type, data }) => (type === "branch-ended" ? [data] : []))).toMatchObject([
    { branch: "2", outcome: "completed" },
    { branch: "1", outcome: "canceled" },
  ]);
});

const never = () => new Promise<never>(() => undefined);
const first = async () => paperAnswer("first");

test.each([
  ["for branches that work", [never, never], 0, "gone"],
  ["for one that ended first before", [first, never], 1, "gone"],
  ["once it has all it wants", [first], 0, "over"],
] as const)("a run that is given up does not wait %s", async (_, asks, recorded, reason) => {
  const { run } = paperFlow().flow;
  const [gone, over] = [new AbortController(), new AbortController()];
  const rest = Promise.withResolvers<unknown>();
  // As an engine does it: the side that lost is aborted.
  const race = async (bodies: readonly ((own: object) => Promise<unknown>)[]) => {
    const [taking, working] = bodies.map((body) => body({ ...run, abortSignal: over.signal }));
    working?.catch(rest.resolve);
    return taking?.finally(() => over.abort("over"));
  };
  const step = async () => recorded;
  const left = [...asks];
  const { end } = await performed({ policy: "any" }, [], {
    ...{ run: { ...run, abortSignal: gone.signal, race, step } as never, agents: agents.slice(0, asks.length) },
    ask: ((): unknown => {
      if (left.length === 1) setImmediate(() => gone.abort("gone"));
      return left.shift()?.();
    }) as never,
  });
  expect(reason === "over" ? [(end as { answer: string }).answer, await rest.promise] : end).toEqual(
    reason === "over" ? ["first", "over"] : ("gone" as never),
  );
});

test("what branches made that did not complete is not handed on, and whoever puts together is told of them", async () => {
  const options = { policy: "any", rest: "await", aggregate: "agent", aggregator: "editor", items: ["a", "b"] };
  const done = paperAnswer("first", { files: [paperFile("a.txt")], data: 0 });
  const { end, handedOn, reached, asks } = await performed(options, [
    ...[done, failing([paperFile("half.txt")])],
    paperAnswer("One answer", { files: [paperFile("whole.txt")] }),
  ]);
  expect(handedOn).toEqual(["a.txt", "whole.txt"]);
  expect(reached).toEqual(["first\n\nNot everything worked:\nBranch 2: two failed: no paper"]);
  expect(asks[2]).toMatchObject({ agent: "editor", text: expect.stringContaining("Not done: two failed: no paper") });
  expect(end).toEqual({
    answer: "One answer\n\nNot everything worked:\nBranch 2: two failed: no paper",
    data: {
      policy: "any of 2",
      branches: [
        { branch: "1", agent: "one", item: "a", outcome: "completed", taskId: "t", answer: "first", data: 0 },
        {
          ...{ branch: "2", agent: "two", item: "b", outcome: "failed", taskId: "t", answer: "half" },
          ...{ reason: "two failed: no paper", error: refused },
        },
      ],
    },
  });
});

test("too few that complete fail the flow as a task that failed, and by the limit's name only where one was reached", async () => {
  const ended = await performed({ rest: "await" }, [paperAnswer("first"), failing()]);
  expect(ended.end).toMatchObject({
    code: "task_failed",
    message: "Too few branches completed: all of 2 had to. Branch 2: two failed: no paper",
  });
  expect(ended.reached).toEqual(["first\n\nNot everything worked:\nBranch 2: two failed: no paper"]);
  const limit = new AppError("token_limit", "Nothing is left.");
  const outcomes = [async () => failing(), () => Promise.reject(limit)];
  const bound = await performed({ rest: "await" }, [], { ask: () => (outcomes.shift() ?? outcomes[0])?.() as never });
  expect(bound.end).toMatchObject({ code: "token_limit", message: expect.stringContaining("Nothing is left.") });
  const quorum = await performed({ policy: "quorum", quorum: 2, items: ["a", "b", "c"], rest: "await" }, [
    ...[failing(), paperAnswer("first"), failing()],
  ]);
  expect(quorum.end).toMatchObject({ message: expect.stringContaining("2 of 3 had to.") });
});

test("one more failure than a quorum can bear settles it, and not one fewer", async () => {
  const options = { policy: "quorum", quorum: 2, items: ["a", "b", "c"], rest: "await", concurrency: 1 };
  const settled = async (asked: readonly AskOutcome[]) =>
    (await performed(options, asked)).told.flatMap(({ type, data }) => (type === "policy-settled" ? [data] : []));
  const done = paperAnswer("first");
  expect(await settled([failing(), done, done])).toMatchObject([
    { met: true, outcome: "completed", reason: expect.stringContaining("2 completed, 1 failed") },
  ]);
  expect(await settled([failing(), failing(), done])).toMatchObject([
    { met: false, outcome: "failed", reason: expect.stringContaining("0 completed, 2 failed") },
  ]);
});

test.each([
  [{ policy: "quorum" }, "say how many"],
  [{ policy: "any", quorum: 1 }, "goes with the policy quorum only"],
  [{ policy: "all", quorum: 1 }, "goes with the policy quorum only"],
  [{ policy: "quorum", quorum: 3 }, "at most 2, the number of branches"],
  [{ policy: "quorum", quorum: 2 }, undefined],
  [{ aggregate: "agent" }, "name the agent"],
  [{ aggregate: "model", aggregator: "one" }, "aggregation agent only"],
] as const)("options %j: %p", (options, said) => {
  const found = parallel.check?.({ agents: ["one", "two"], options: parallel.options.parse(options) } as never);
  if (said === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(said);
});

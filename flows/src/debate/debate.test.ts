import { expect, test } from "bun:test";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import type { Json } from "manyhands/internal/core/json";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type FlowForTest, flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import { debate } from "./debate.ts";

const asked = ({ messages }: ChatRequest) => JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
const lines = (events: readonly ReadEvent[]) =>
  events.flatMap((event) => {
    if (event.type !== "flow-told") return [];
    const { round, argument, debater, agreed } = event.data;
    if (event.of === "argument-made") return [`${round} [${argument}] ${debater}`];
    if (event.of === "debater-absent") return [`${round} ${debater} absent`];
    return event.of === "round-ended" ? [`${round} ${agreed ? "agreed" : "over"}`] : [];
  });
const transcript = (events: readonly ReadEvent[]) =>
  events.flatMap((event) => {
    if (event.type !== "artifact-added" || event.name !== "transcript.md") return [];
    return event.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  });
const positions = [
  { agent: "one", position: "Tabs" },
  { agent: "two", position: "Spaces" },
];
const fair = {
  decision: "Spaces",
  confidence: 0.7,
  reasons: ["[2] holds"],
  dissent: "[1] on width",
  citations: [2, 1],
};
const refusal = (summary: string) => ({ calls: [{ name: "terminate", args: { status: "failure", summary } }] });

/** The model of a debate: it answers with the tool it is given. */
const chair =
  (answers: Readonly<Record<string, (n: number) => object>>) =>
  ({ tools }: ChatRequest, n: number): ScriptedReply => {
    const name = tools?.[0]?.function.name ?? "";
    return { calls: [{ name, args: answers[name]?.(n) ?? {} }] };
  };
const differing = chair({
  check_agreement: () => ({ agreed: false, reason: "they differ" }),
  give_verdict: () => fair,
});
/** The numbers of the arguments that a request shows. */
const argumentsIn = (request: ChatRequest) =>
  [...asked(request).matchAll(/argument number=\\"(\d+)\\"/g)].map(([, number]) => number);
/** A debater that repeats what it was sent: its own name, and the numbers it was shown. */
const echo = (name: string) => (request: ChatRequest) => {
  return { text: `${name} answers ${argumentsIn(request).join() || "nobody"}` };
};
const agents = { one: echo("one"), two: echo("two") };
async function ended(flow: FlowForTest, agent: string): Promise<string[]> {
  for (const deadline = Date.now() + 60_000; ; await Bun.sleep(10)) {
    const states = (await flow.agent(agent).tasks()).map(({ status }) => status);
    if (states.every((state) => ["completed", "failed", "canceled"].includes(state))) return states;
    if (Date.now() > deadline) throw new Error(`still at work: ${states}`);
  }
}

test("an independent round, then rounds that see the others' arguments, then a verdict that cites them", async () => {
  await using flow = await flowForTest(debate, { agents, model: differing });
  const { answer, events, record } = await flow.run({ text: "Tabs or spaces?", options: { positions } });
  expect(lines(events)).toEqual([
    ...["1 [1] A", "1 [2] B", "1 over"],
    ...["2 [3] A", "2 [4] B", "2 over"],
    ...["3 [5] A", "3 [6] B", "3 over"],
  ]);
  const judged = flow.model.requests.filter(({ body }) => body.tools?.[0]?.function.name === "check_agreement");
  expect(judged.map(({ body }) => argumentsIn(body))).toEqual([
    ["1", "2"],
    ["3", "4"],
  ]);
  const begun = flowEvents(events, "round-begun").map(({ positions }) => positions);
  expect(begun).toEqual([
    [
      { debater: "A", agent: "one", position: "Tabs" },
      { debater: "B", agent: "two", position: "Spaces" },
    ],
    ...[undefined, undefined],
  ]);
  expect(answer).toBe(
    "Spaces\n\nConfidence: 0.7\n\nBecause:\n- [2] holds\n\nAgainst it: [1] on width\n\nIt rests on [1], [2].",
  );
  const data = (record.output as { data: { arguments: { text: string }[] } }).data;
  expect(data).toMatchObject({ stop: "rounds", rounds: 3, verdict: { confidence: 0.7, citations: [1, 2] } });
  expect(data.arguments.map(({ text }) => text)).toEqual([
    ...["one answers nobody", "two answers nobody"],
    ...["one answers 2", "two answers 1"],
    ...["one answers 4", "two answers 3"],
  ]);
  const text = transcript(events).at(-1) ?? "";
  for (const part of ["- A (one): Tabs", "## Round 2\n\n### [3] A (one)\n\none answers 2", "## Verdict\n\nSpaces"])
    expect(text).toContain(part);
  const contexts = (await flow.agent("one").tasks()).map(({ contextId }) => contextId);
  expect([contexts.length, new Set(contexts).size]).toEqual([3, 1]);
});

test("the debate ends when all agree, unless converge is off, and the judge is asked in either case", async () => {
  const model = chair({
    check_agreement: () => ({ agreed: true, reason: "both say spaces" }),
    give_verdict: () => fair,
  });
  await using flow = await flowForTest(debate, { agents, model });
  const { events, record } = await flow.run({ text: "Which?", options: { positions } });
  expect(lines(events)).toEqual(["1 [1] A", "1 [2] B", "1 agreed"]);
  expect(record.output).toMatchObject({ data: { stop: "agreed", rounds: 1 } });
  const on = await flow.run({ text: "Which?", options: { positions, rounds: 2, converge: false } });
  expect(on.record.output).toMatchObject({ data: { stop: "rounds", rounds: 2 } });
});

test("a single speaker in a round is no agreement: the debate continues to a round in which both speak", async () => {
  const agreeing = chair({
    check_agreement: () => ({ agreed: true, reason: "both say so" }),
    give_verdict: () => fair,
  });
  const two = (request: ChatRequest, n: number) => (n === 0 ? refusal("not ready") : echo("two")(request));
  await using flow = await flowForTest(debate, { agents: { one: echo("one"), two }, model: agreeing });
  const { events, record } = await flow.run({ text: "Tabs or spaces?", options: { positions } });
  expect(lines(events).filter((line) => /absent|over|agreed/.test(line))).toEqual(["1 B absent", "1 over", "2 agreed"]);
  expect(record.output).toMatchObject({ data: { stop: "agreed", rounds: 2 } });
});

test("one agent may hold several positions, each in its own conversation; without positions the model names them", async () => {
  const by = (...names: string[]) => ({ positions: names.map((position) => ({ position, agent: "ONE" })) });
  const model = chair({
    name_positions: (n) => (n === 0 ? by("Tabs", "Tabs", "Tabs") : by("Tabs", "Spaces", "Both")),
    give_verdict: () => fair,
  });
  await using flow = await flowForTest(debate, { agents, model });
  const options = { debaters: 3, rounds: 1 };
  const { record } = await flow.run({ text: "Which?", agents: ["one"], options });
  expect(record.output).toMatchObject({
    data: {
      positions: [
        { debater: "A", agent: "one", position: "Tabs" },
        { debater: "B", agent: "one", position: "Spaces" },
        { debater: "C", agent: "one", position: "Both" },
      ],
    },
  });
  const contexts = (await flow.agent("one").tasks()).map(({ contextId }) => contextId);
  expect(new Set(contexts).size).toBe(3);
});

test("a yes-or-no question gets no third position: debaters may share one, and agents that were not named may stay out", async () => {
  const yesOrNo = (...agents: string[]) => ({
    positions: agents.map((agent, index) => ({ agent, position: index === 0 ? "Yes" : "No" })),
  });
  const three = { ...agents, three: echo("three") };
  const options = { rounds: 1 };
  await using free = await flowForTest(debate, {
    agents: three,
    model: chair({ name_positions: () => yesOrNo("three", "one"), give_verdict: () => fair }),
  });
  const { events } = await free.run({ text: "Is 2027 prime?", options });
  const [asked] = free.model.requests;
  expect(JSON.stringify(asked?.body.messages[0])).toContain("A yes-or-no question has two; do not invent a third.");
  expect(lines(events)).toEqual(["1 [1] A", "1 [2] B", "1 over"]);
  expect(await free.agent("two").tasks()).toEqual([]);
  expect(JSON.stringify(free.model.requests[0]?.body.messages)).toContain("Name 2 to 3 debaters");

  const named = (n: number) => (n === 0 ? yesOrNo("one", "nobody") : yesOrNo("one", "two", "three"));
  await using chosen = await flowForTest(debate, {
    agents: three,
    model: chair({ name_positions: named, give_verdict: () => fair }),
  });
  const all = await chosen.run({ text: "Is 2027 prime?", agents: ["one", "two", "three"], options });
  expect(all.record.output).toMatchObject({
    data: { positions: [{ position: "Yes" }, { position: "No" }, { agent: "three", position: "No" }] },
  });
  const told = chosen.model.requests[1]?.body.messages.at(-1)?.content;
  for (const fault of ["Name 3 debaters.", 'no agent "nobody"', "two argues for nothing.", "three argues for nothing."])
    expect(told).toContain(fault);
});

test("a debater that is always late is absent at its deadline, and after two rounds the debate continues without it", async () => {
  await using flow = await flowForTest(debate, {
    agents: { ...agents, late: () => ({ text: "wait", delayMs: 600_000 }) },
    model: differing,
  });
  const three = [...positions, { agent: "late", position: "Neither", name: "Late" }];
  const options = { positions: three, turnDeadlineMs: 2_500 };
  const { answer, events, record } = await flow.run({ text: "Which?", options });
  expect(record.status).toBe("completed");
  expect(lines(events)).toEqual([
    ...["1 [1] A", "1 [2] B", "1 Late absent", "1 over"],
    ...["2 [3] A", "2 [4] B", "2 Late absent", "2 over"],
    ...["3 [5] A", "3 [6] B", "3 over"],
  ]);
  expect(answer).toContain("Absent:\n- Late in round 1: late did not answer in time");
  expect(transcript(events).at(-1)).toContain("_Late (late) was absent: late did not answer in time");
  expect(await ended(flow, "late")).toEqual(["canceled", "canceled"]);
  const judged = JSON.stringify(flow.model.requests.at(-1)?.body.messages);
  expect(judged).toContain("Absent: Late in round 1, Late in round 2.");
});

test("a debater that missed a round gets every argument since it last spoke", async () => {
  await using flow = await flowForTest(debate, {
    agents: { one: echo("one"), two: (request, n) => (n === 0 ? refusal("not now") : echo("two")(request)) },
    model: differing,
  });
  const { record } = await flow.run({ text: "Which?", options: { positions } });
  const { arguments: made } = (record.output as { data: { arguments: { text: string }[] } }).data;
  expect(made.map(({ text }) => text)).toEqual([
    "one answers nobody",
    "one answers nobody",
    "two answers 1",
    "one answers 3",
    "two answers 2",
  ]);
});

test("a debater whose turn failed still has its conversation: what it said is not shown to it again", async () => {
  await using flow = await flowForTest(debate, {
    agents: { one: echo("one"), two: (request, n) => (n === 1 ? refusal("not now") : echo("two")(request)) },
    model: differing,
  });
  const { record } = await flow.run({ text: "Which?", options: { positions } });
  const { arguments: made } = (record.output as { data: { arguments: { text: string }[] } }).data;
  expect(made.at(-1)?.text).toBe("two answers 1,3");
});

test("a judge that cites an argument nobody made is asked again, or there is no verdict", async () => {
  const cites = (n: number) => ({ ...fair, reasons: [n === 0 ? "[9] holds" : "[2] holds"] });
  await using flow = await flowForTest(debate, { agents, model: chair({ give_verdict: cites }) });
  const { answer } = await flow.run({ text: "Which?", options: { positions, rounds: 1 } });
  expect(answer).toContain("- [2] holds");
  expect(JSON.stringify(flow.model.requests[1]?.body.messages)).toContain("There is no argument 9; there are 1, 2.");

  const inventing = chair({ give_verdict: () => ({ ...fair, citations: [7] }) });
  await using other = await flowForTest(debate, { agents, model: inventing });
  const { record, events } = await other.run({ text: "Which?", options: { positions, rounds: 1 } });
  expect(record.error).toMatchObject({ code: "task_failed", message: expect.stringContaining("no argument 7") });
  expect(events.findLast(({ type }) => type === "artifact-added")).toMatchObject({
    name: "partial-answer",
    parts: [{ text: expect.stringContaining("one answers nobody") }],
  });
});

test("an agent may judge, in the same schema", async () => {
  const verdict = { calls: [{ name: "create_chat_completion", args: { response: fair } }] };
  await using flow = await flowForTest(debate, { agents: { ...agents, judge: [verdict] } });
  const { events, answer } = await flow.run({ text: "Which?", options: { positions, rounds: 1, judge: "judge" } });
  expect(answer).toStartWith("Spaces");
  expect(flowEvents(events, "verdict-given")[0]).toMatchObject({ judge: "judge", citations: [1, 2] });
  expect(flow.model.requests).toEqual([]);
});

test("if nobody says anything, the debate fails; if only one debater is left, it ends", async () => {
  const silent = () => refusal("no comment");
  await using none = await flowForTest(debate, { agents: { one: silent, two: silent } });
  const { record } = await none.run({ text: "Which?", options: { positions } });
  expect(record.error?.message).toStartWith("No debater gave an argument. A: one failed: no comment");
  await using half = await flowForTest(debate, { agents: { one: echo("one"), two: silent }, model: differing });
  const { events, record: ending } = await half.run({ text: "Which?", options: { positions, rounds: 8 } });
  expect(lines(events)).toEqual(["1 [1] A", "1 B absent", "1 over", "2 [2] A", "2 B absent", "2 over"]);
  expect(ending.output).toMatchObject({ data: { stop: "alone" } });
});

test("the user's messages meanwhile become part of the question; a debater's question reaches the user", async () => {
  const asks = (request: ChatRequest, n: number) =>
    n === 0 ? { calls: [{ name: "ask_human", args: { inquire: "In which language?" } }] } : { text: asked(request) };
  const slow = (_: ChatRequest, n: number) => ({ text: "two", delayMs: n === 0 ? 300 : 0 });
  await using flow = await flowForTest(debate, { agents: { one: asks, two: slow }, model: differing });
  const id = await flow.start({ text: "Which?", options: { positions, rounds: 2 } });
  expect(await flow.event(id, "question-asked")).toMatchObject({ question: expect.stringContaining("language") });
  await flow.say(id, "Python");
  await flow.say(id, "and be brief");
  expect(JSON.stringify((await flow.until(id, "completed")).output)).toMatch(/The user added:\\+nand be brief/);
});

test("contradictory settings are refused when the flow is accepted, a wrong agent before any is asked", async () => {
  const refused = (options: { [name: string]: Json }) => () =>
    flowRequest(debate, {
      message: { parts: [{ type: "text", text: "Go" }] },
      flow: { options },
    });
  expect(refused({ positions, debaters: 3 })).toThrow("options.debaters: goes without positions only");
  expect(refused({ positions: [{ ...positions[0], name: "B" }, ...positions.slice(1)] as Json })).toThrow(
    "there are two named B",
  );
  await using flow = await flowForTest(debate, { agents });
  const { record } = await flow.run({ text: "Go", options: { positions, judge: "nobody" } });
  expect(record.error?.code).toBe("invalid_input");
  expect(await flow.agent("one").tasks()).toEqual([]);
});

import { expect, test } from "bun:test";
import type { Json } from "../core/json.ts";
import { messageSignal, type Part } from "../core/message.ts";
import type { Run } from "../core/runs/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { machineClock } from "../durable/sqlite/machine-clock.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { until } from "../testing/durable/until.ts";
import { newState, type StartedFlow, workedMs } from "./flow-state.ts";
import { askCaller, receiveCallerMessages } from "./receive-caller-messages.ts";

const hour = 3_600_000;

test("the time a person takes to answer does not count towards the flow's time; the time before and after does", async () => {
  using store = scratch();
  const real = machineClock();
  let passed = 0;
  const engine = createEmbeddedEngine({ path: store.path, clock: { ...real, uptime: () => real.uptime() + passed } });
  const execute = async (run: Run) => {
    const startedAt = await run.step("begin", async ({ now }) => now());
    const begun = { goal: "Go", files: [], earlier: { text: "", files: [] }, startedAt } as unknown as StartedFlow;
    const state = newState(begun, { hops: 0 });
    await run.step("work", async () => {
      passed += hour;
      return null;
    });
    const answer = await askCaller(run, state, { question: "Which?", kind: "question" });
    return { answer, hours: await run.step("worked", async (step) => Math.round(workedMs(state, step) / hour)) };
  };
  engine.work([{ kind: "k", execute }]);
  const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
  await until(async () => (await engine.get(run.id))?.status === "waiting");
  passed += 24 * hour;
  const message = { messageId: "m1", parts: [{ type: "text", text: "That one." }] };
  await engine.deliver(run.id, messageSignal, message, { id: message.messageId });
  await until(async () => (await engine.get(run.id))?.status === "completed");
  expect((await engine.get(run.id))?.output).toEqual({ answer: "That one.", hours: 1 });
  await engine.close();
});

test("a caller's messages and answers count as the user's words only if the caller is the user", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const execute = async (run: Run, hops: Json) => {
    const begun = { goal: "Go", files: [], earlier: { text: "", files: [] } } as unknown as StartedFlow;
    const state = newState(begun, { hops: Number(hops) });
    const heard = [await askCaller(run, state, { question: "Which?", kind: "question" })];
    await run.signal("more");
    heard.push(...(await receiveCallerMessages(run, state)));
    return { heard, said: state.said };
  };
  engine.work([{ kind: "k", execute }]);
  for (const [hops, said] of [
    [0, ["Go", "That one.", "Quick."]],
    [1, []],
  ] as const) {
    const { run } = await engine.start({ kind: "k", input: hops, principal: "p", contextId: "c" });
    await until(async () => (await engine.get(run.id))?.status === "waiting");
    for (const [messageId, text] of [
      ["m1", "That one."],
      ["m2", "Quick."],
    ] as const)
      await engine.deliver(run.id, messageSignal, { messageId, parts: [{ type: "text", text }] }, { id: messageId });
    await engine.deliver(run.id, "more", null);
    await until(async () => (await engine.get(run.id))?.status === "completed");
    expect((await engine.get(run.id))?.output).toEqual({ heard: ["That one.", "Quick."], said });
  }
  await engine.close();
});

test("messages that came together are all heard, in order, with every source that each of them brings", async () => {
  const file: Part = { type: "file", name: "a.csv", mediaType: "text/csv", size: 1, sha256: "a" };
  const messages: readonly (readonly Part[])[] = [
    [
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
    ],
    [file, { type: "data", data: null }],
    [{ type: "text", text: "Three." }],
  ];
  const heard: unknown[] = [];
  const run = {
    poll: async () => messages.map((parts, at) => ({ messageId: `m${at}`, parts })),
    emit: ({ messageId }: { messageId: string }) => void heard.push(messageId),
  } as unknown as Run;
  const begun = { goal: "Go", files: [], earlier: { text: "", files: [] } } as unknown as StartedFlow;
  const state = newState(begun, { hops: 0 });
  expect(await receiveCallerMessages(run, state)).toEqual(["One.\nTwo.", "null", "Three."]);
  expect([heard, state.pendingMessages, state.added]).toEqual([["m0", "m1", "m2"], [], [file]]);
  expect([...state.takenIn]).toEqual(["file", "data"]);
  expect(state.said).toEqual(["Go", "One.\nTwo.", "null", "Three."]);
});

test("every wait for a person is left out of the flow's time, whatever comes of it", async () => {
  let now = 0;
  const answers = [{ messageId: "a", parts: [{ type: "text", text: "Yes." }] }, undefined];
  const run = {
    poll: async () => [],
    emit: () => undefined,
    step: async (_: string, work: (step: object) => unknown) => work({ now: () => now }),
    signal: async () => {
      now += 100;
      return answers.shift() ?? { messageId: "b", parts: [] };
    },
  } as unknown as Run;
  const begun = { goal: "Go", files: [], earlier: { text: "", files: [] }, startedAt: 0 } as unknown as StartedFlow;
  const state = newState(begun, { hops: 0 });
  const ask = () => askCaller(run, state, { question: "Which?", kind: "question" });
  expect([await ask(), await ask()]).toEqual(["Yes.", ""]);
  now += 50;
  expect([state.pausedMs, workedMs(state, { now: () => now }), state.said]).toEqual([200, 50, ["Go", "Yes."]]);
});

test("what comes with a caller's messages and answers is the flow's: words, data, files, links, and their sources", async () => {
  using store = scratch();
  const engine = createEmbeddedEngine({ path: store.path });
  const file = (name: string): Part => ({ type: "file", name, mediaType: "text/csv", size: 1, sha256: name });
  const link: Part = { type: "url", url: "https://a.example/x" };
  const messages: readonly (readonly Part[])[] = [
    [{ type: "text", text: "Before." }, file("early.csv")],
    [{ type: "text", text: "That" }, { type: "data", data: { n: 1 } }, link],
    [file("late.csv")],
  ];
  const execute = async (run: Run) => {
    const begun = { goal: "Go", files: [], earlier: { text: "", files: [] } } as unknown as StartedFlow;
    const state = newState(begun, { hops: 0 });
    await run.signal("begin");
    const answer = await askCaller(run, state, { question: "Which?", kind: "question" });
    await run.signal("more");
    const heard = [await receiveCallerMessages(run, state), await receiveCallerMessages(run, state)];
    return { answer, heard, said: state.said, added: state.added, takenIn: [...state.takenIn] };
  };
  engine.work([{ kind: "k", execute }]);
  const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
  const send = (n: number) =>
    engine.deliver(run.id, messageSignal, { messageId: `m${n}`, parts: messages[n] as Json }, { id: `m${n}` });
  const asked = async () => (await engine.events(run.id)).some(({ event }) => event.type === "question-asked");
  await send(0);
  await engine.deliver(run.id, "begin", null);
  await until(asked);
  await send(1);
  await send(2);
  await engine.deliver(run.id, "more", null);
  await until(async () => (await engine.get(run.id))?.status === "completed");
  expect((await engine.get(run.id))?.output as unknown).toEqual({
    answer: 'That\n{"n":1}',
    heard: [["Before.", ""], []],
    said: ["Go", "Before.", 'That\n{"n":1}'],
    added: [file("early.csv"), link, file("late.csv")],
    takenIn: ["file", "data"],
  });
  const heard = (await engine.events(run.id)).flatMap(({ event }) =>
    event.type === "message-heard" ? [(event as unknown as { messageId: string }).messageId] : [],
  );
  expect(heard).toContain("m0");
  expect(heard).toContain("m2");
  await engine.close();
});

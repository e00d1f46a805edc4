import { expect, test } from "bun:test";
import * as z from "zod";
import { defineFlow, type FlowDefinition } from "../core/flow.ts";
import { bodyOf } from "../core/runs/bodies.ts";
import type { Run } from "../core/runs/run.ts";
import { flowForTest } from "../testing/flow.ts";
import { flowRun } from "./flow-run.ts";

const agents = { one: () => ({ text: "not asked" }) };
const about = { name: "tried", description: "For a test.", example: { text: "Try" } };

/**
 * A flow that asks for a city and, in its second version, no longer knows the option `greeting`.
 */
const first = defineFlow({
  ...about,
  options: z.strictObject({ greeting: z.string().default("Hello") }),
  async perform(flow, { greeting }) {
    return { answer: `${greeting} ${await flow.askPerson("Where?")}` };
  },
});
const second = defineFlow({
  ...about,
  options: z.strictObject({ loud: z.boolean().default(true) }),
  body: 2,
  async perform(flow, { loud }) {
    await flow.run.step("think", async () => null);
    return { answer: `${await flow.askPerson("Where now?")}${loud ? "!" : ""}` };
  },
  former: [{ body: 1, perform: async (flow, options: { greeting: string }) => first.perform(flow, options) }],
});

test("a run goes on with the former body and the options that its release knew, a new one begins with the newest", async () => {
  await using flow = await flowForTest(first, { agents });
  const old = await flow.start({ text: "Go", options: { greeting: "Salve" } });
  await flow.event(old, "question-asked");
  await flow.upgrade(second);
  await flow.say(old, "Rome");
  expect((await flow.until(old, "completed", "failed")).output).toEqual({ answer: "Salve Rome" });
  const young = await flow.start({ text: "Go" });
  expect(await flow.event(young, "question-asked")).toMatchObject({ kind: "question", question: "Where now?" });
  await flow.say(young, "Rome");
  expect((await flow.until(young, "completed", "failed")).output).toEqual({ answer: "Rome!" });
});

test("a run whose flow no longer has its body pauses, and goes on where that is again", async () => {
  await using flow = await flowForTest(first, { agents });
  const id = await flow.start({ text: "Go" });
  await flow.event(id, "question-asked");
  const { former: _, ...alone } = second;
  await flow.upgrade(alone);
  await flow.say(id, "Rome");
  expect((await flow.until(id, "paused", "completed", "failed")).error).toMatchObject({
    code: "version_missing",
    message: expect.stringContaining("began with version 1 of the body of tried"),
  });
  await flow.upgrade(second);
  expect((await flow.until(id, "completed", "failed")).output).toEqual({ answer: "Hello Rome" });
});

test("a body that changed without a new version pauses the runs it does not fit", async () => {
  await using flow = await flowForTest(first, { agents });
  const id = await flow.start({ text: "Go" });
  await flow.event(id, "question-asked");
  await flow.upgrade({ ...second, body: 1, former: [] });
  await flow.say(id, "Rome");
  expect((await flow.until(id, "paused", "completed", "failed")).error?.code).toBe("non_deterministic");
});

test("what a flow recorded of its body before runs had versions decides", async () => {
  const perform = (body: number) => async () => ({ answer: `${body}` });
  const definition: FlowDefinition = {
    ...first,
    body: 3,
    perform: perform(3),
    former: [{ body: 2, perform: perform(2) }],
  };
  const peers = { underWay: { execution: () => ({ isNone: () => true, forget() {} }) } };
  const kind = flowRun(definition, { peers } as never);
  const earlier = { text: "", files: [], takenIn: [] };
  const begun = { goal: "Go", files: [], options: {}, earlier, entries: [], known: [], limits: {}, startedAt: 0 };
  const ended = (version: number, recorded: object) => {
    const run = { id: "r", step: async () => ({ ...begun, unpriced: null, ...recorded }), emit() {} };
    return bodyOf(kind, version)?.execute(run as never as Run, { message: { parts: [], messageId: "m" }, hops: 0 });
  };
  expect(await ended(2, {})).toEqual({ answer: "2" });
  expect(await ended(3, {})).toEqual({ answer: "3" });
  expect(await ended(3, { body: 2 })).toEqual({ answer: "2" });
});

test("versions that are out of order, or too many, are refused in a sentence", () => {
  const define = (body: number, ...former: number[]) =>
    defineFlow({
      ...about,
      body,
      perform: first.perform,
      former: former.map((one) => ({ body: one, perform: first.perform })),
    });
  expect(() => define(1, 2)).toThrow(
    "The flow tried needs its bodies in order, the newest first, each with its own version.",
  );
  expect(() => define(0)).toThrow("The flow tried needs whole numbers from 1 as versions of its body.");
  expect(() => define(4, 3, 2, 1)).toThrow("The flow tried has 3 former bodies; 2 are the most.");
  expect(define(3, 2, 1).former).toHaveLength(2);
});

import { expect, test } from "bun:test";
import { messageSignal } from "../core/message.ts";
import type { Run } from "../core/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { machineClock } from "../durable/sqlite/machine-clock.ts";
import { scratch } from "../testing/durable/scratch.ts";
import { until } from "../testing/durable/until.ts";
import { type Begun, newState, workedMs } from "./flow-state.ts";
import { askCaller } from "./receive-caller-messages.ts";

const hour = 3_600_000;

test("the time that a person takes to answer is not the flow's, and the time before and after is", async () => {
  using store = scratch();
  const real = machineClock();
  let passed = 0;
  const engine = createEmbeddedEngine({ path: store.path, clock: { ...real, uptime: () => real.uptime() + passed } });
  const execute = async (run: Run) => {
    const startedAt = await run.step("begin", async ({ now }) => now());
    const begun = { goal: "Go", files: [], earlier: { text: "", files: [] }, startedAt } as unknown as Begun;
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

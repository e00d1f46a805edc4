import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { Run } from "../../core/runs/run.ts";
import type { DurableContext } from "../../core/tools/durable-context.ts";
import * as asks from "../ask/ask-agent.ts";
import type { Peers } from "../ask/peers.ts";
import { delegateTool } from "./delegate.ts";
import type { Directory } from "./directory.ts";

const second = 1_000;
const day = 24 * 3_600 * second;

/**
 * Delegates to an agent that is never there, on a clock that moves by what is slept and by so much
 * with each look; what the model is told, how long it took, and how much was reserved for it.
 */
async function delegated(lookMs: number, hops = 0) {
  let now = 0;
  let looks = 0;
  const [emitted, shares, released]: [object[], number[], unknown[]] = [[], [], []];
  const run = {
    id: "r",
    principal: "ann",
    step: (name: string, work: (step: object) => unknown) => {
      if (name === "meet") now += lookMs;
      return work({ key: `k/${name}`, now: () => now, emit: (event: object) => emitted.push(event) });
    },
    sleep: async (ms: number) => {
      now += ms;
    },
    emit: (event: object) => emitted.push(event),
  } as unknown as Run;
  const peers = {
    actingFor: () => peers,
    bounds: { hops: 8, patienceMs: 100 * day },
    underWay: { begin: () => () => undefined },
    retrySignal: () => undefined,
    async client() {
      looks++;
      throw new AppError("unreachable", "Nobody is there.");
    },
  } as unknown as Peers;
  const context = {
    attach: async () => [],
    adopt: async () => [],
    subBudget: (share: number) => {
      shares.push(share);
      return { budget: { tokens: 5 }, release: (usage: unknown) => released.push(usage) };
    },
    ...{ hops, said: ["Buy it."], takenIn: ["bash"], receiveMessages: () => undefined },
  } as unknown as DurableContext;
  const directory = { addresses: [{ name: "helper", url: "http://helper.example" }], describe: () => "" };
  const tool = delegateTool(directory as unknown as Directory, peers);
  const result = await tool.callDurably?.({ agent: "helper", task: "Do it." }, run, context);
  return { result, now, looks, shares, released, emitted };
}

test("an agent that is not there is looked for through twenty seconds, however patient asks are, and gets half of what is left", async () => {
  const { result, now, shares, released } = await delegated(0);
  expect([now, shares, released.length]).toEqual([20 * second, [0.5], 1]);
  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('code="unreachable"') });
});

test("a task is given once, beside others, with fifty files at most", async () => {
  const directory = { addresses: [{ name: "helper", url: "http://helper.example" }], describe: () => "- helper" };
  const tool = delegateTool(directory as unknown as Directory, {} as Peers);
  const { effect, parallel, description } = tool;
  expect([effect({}), parallel, description.endsWith("- helper")]).toEqual(["once", true, true]);
  const input = { agent: "helper", task: "Do it.", files: Array(51).fill("a.txt") };
  const refused = await tool.callDurably?.(input, {} as never, {} as never);
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("files") });
});

test("what is delegated is the task with its files, in the words and within the bounds of who delegates it", async () => {
  const file = { type: "file", name: "a.txt", mediaType: "text/plain", sha256: "0".repeat(64), size: 1 } as const;
  const made = { name: "b.txt", mediaType: "text/plain", sha256: "1".repeat(64), size: 2 };
  const usage = { tokens: 7, usd: 0, unpriced: false };
  using asking = spyOn(asks, "askAgent").mockResolvedValue({
    ...{ agent: "helper", state: "completed", answer: "Done.", files: [made], usage },
  } as never);
  const [attached, adopted, released]: unknown[][] = [[], [], []];
  const receiveMessages = () => undefined;
  const context = {
    async attach(paths: unknown) {
      attached?.push(paths);
      return [file];
    },
    async adopt(files: unknown) {
      adopted?.push(files);
      return [{ ...made, type: "file" }];
    },
    subBudget: () => ({ budget: { tokens: 5 }, release: (used: unknown) => released?.push(used) }),
    ...{ hops: 2, said: ["Buy it."], takenIn: ["bash"], receiveMessages },
  } as unknown as DurableContext;
  const agent = { name: "helper", url: "http://helper.example" };
  const directory = { addresses: [agent], describe: () => "" } as unknown as Directory;
  const [run, peers] = [{} as Run, {} as Peers];
  const task = "Read https://a.example/x.";
  const result = await delegateTool(directory, peers).callDurably?.(
    { agent: "helper", task, files: ["a.txt"] },
    run,
    context,
  );
  const request = {
    ...{ agent, parts: [{ type: "text", text: task }, file], budget: { tokens: 5 }, hops: 2, said: ["Buy it."] },
    ...{ given: ["https://a.example/x"], takenIn: ["bash"], deadlineMs: day, resolveMs: 20 * second, receiveMessages },
  };
  expect(asking.mock.calls).toEqual([[run, request, peers]] as never);
  expect([attached, adopted, released]).toEqual([[["a.txt"]], [[{ ...made, type: "file" }]], [usage]]);
  expect(result).toMatchObject({ isError: false, takenIn: ["web", "helper"] });
});

test("what is delegated ends after a day at the latest", async () => {
  // It looks twice, half a second apart.
  expect((await delegated(day / 2 - 250)).result?.text).toContain("helper did not answer within 86400 s.");
  expect((await delegated(day / 2 - 251)).result?.text).toContain('code="unreachable"');
});

test("what is delegated counts as one agent further, and is refused after the eighth", async () => {
  expect((await delegated(0, 7)).emitted[0]).toMatchObject({ type: "agent-asked", agent: "helper", hops: 8 });
  const { result, looks } = await delegated(0, 8);
  expect([result?.isError, result?.text.includes("hop_limit"), looks]).toEqual([true, true, 0]);
});

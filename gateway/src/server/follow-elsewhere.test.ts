import { expect, test } from "bun:test";
import { followElsewhere } from "./follow-elsewhere.ts";

test("a task elsewhere is followed for its principal, after what was read, by its journal and its progress alone", async () => {
  const asked: unknown[] = [];
  const { signal } = new AbortController();
  const journal = { at: 5, event: { type: "run-resumed" } };
  const client = {
    async *watch(taskId: string, given: { after: number; signal: AbortSignal }) {
      asked.push([taskId, given.after, given.signal === signal]);
      yield { kind: "task", task: {} };
      yield { kind: "progress", progress: { type: "text-delta", text: "x" } };
      yield { kind: "status", seq: 8 };
      yield { kind: "status", journal };
      yield { kind: "status", seq: 9, journal };
      yield { kind: "end", task: {} };
    },
  };
  const peers = {
    actingFor: (principal: string) => ({
      async client(address: unknown, given: AbortSignal) {
        asked.push([principal, address, given === signal]);
        return client;
      },
    }),
    at: (address: object) => ({ ...address, known: true }),
  };
  const follow = followElsewhere(peers as unknown as Parameters<typeof followElsewhere>[0]);
  const ask = { runId: "r", askId: "r/1", agent: "swe", url: "http://swe", taskId: "t" };
  const found = await Array.fromAsync(follow(ask, { principal: "ann", after: 7, signal }));
  expect(found as unknown).toEqual([
    { kind: "progress", event: { type: "text-delta", text: "x" } },
    { kind: "event", runId: "t", seq: 9, ...journal },
  ]);
  expect(asked).toEqual([
    ["ann", { name: "swe", url: "http://swe", known: true }, true],
    ["t", 7, true],
  ]);
});

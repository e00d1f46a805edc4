import { expect, test } from "bun:test";
import type { RunEvent } from "../../core/runs/run.ts";
import type { AgentState } from "./agent-state.ts";
import { loop } from "./loop.ts";

function taskOf(steps: number) {
  const stop = new AbortController();
  const events: RunEvent[] = [];
  const run = { abortSignal: stop.signal, emit: (event: RunEvent) => void events.push(event) };
  return { task: { limits: { steps }, run } as unknown as AgentState, stop, events };
}

test("a task has as many turns as its limit, and each is told with its number", async () => {
  const { task, events } = taskOf(2);
  await expect(loop(async () => "continue", task)).rejects.toMatchObject({ code: "step_limit" });
  expect(events).toEqual([1, 2].map((step) => ({ type: "step-started", step, maxSteps: 2 })));
});

test("a task that is aborted during a turn begins no other, and ends with that reason", async () => {
  const { task, stop, events } = taskOf(5);
  const turn = async () => {
    stop.abort(new Error("canceled"));
    return "continue" as const;
  };
  await expect(loop(turn, task)).rejects.toThrow("canceled");
  expect(events).toHaveLength(1);
});

import { expect, test } from "bun:test";
import { TaskState } from "@a2a-js/sdk";
import type { RunEnded } from "../core/events/events.ts";
import type { RunRecord } from "../core/runs/engine.ts";
import { emptyProjection, type TaskProjection } from "../runs/projection.ts";
import { stateName, taskState } from "./task-state.ts";

const ended = (status: RunEnded["status"], code?: "rejected" | "task_failed"): Partial<TaskProjection> => ({
  end: { type: "run-ended", status, ...(code && { error: { code, message: "" } }) },
  question: "question",
});
const waiting = (reason?: string): Partial<RunRecord> => ({
  status: "waiting",
  waiting: { signal: "message", ...(reason !== undefined && { reason }) },
});

test.each<readonly [Partial<TaskProjection>, Partial<RunRecord> | undefined, string]>([
  [{}, undefined, "submitted"],
  [{}, { status: "queued" }, "submitted"],
  [{}, { status: "running" }, "working"],
  [{}, { status: "paused" }, "working"],
  [{ started: true }, undefined, "working"],
  [{ started: true }, { status: "queued" }, "working"],
  [{}, waiting(), "working"],
  [{}, { status: "waiting" }, "working"],
  [{}, waiting("agent"), "working"],
  [{ started: true }, waiting("input-required"), "input-required"],
  [{ started: true }, waiting("auth-required"), "auth-required"],
  [{ started: true }, { ...waiting("input-required"), status: "running" }, "working"],
  [{ question: "question" }, { status: "running" }, "input-required"],
  [{ question: "approval" }, undefined, "input-required"],
  [{ question: "authorization" }, waiting("input-required"), "auth-required"],
  [ended("completed"), { status: "running" }, "completed"],
  [ended("completed", "rejected"), undefined, "completed"],
  [ended("canceled", "rejected"), undefined, "canceled"],
  [ended("failed"), undefined, "failed"],
  [ended("failed", "task_failed"), undefined, "failed"],
  [ended("failed", "rejected"), undefined, "rejected"],
])("a run with %j and the record %j is %s", (projection, record, name) => {
  expect(stateName(taskState({ ...emptyProjection, ...projection }, record as RunRecord | undefined))).toBe(
    name as never,
  );
});

test("a state that is unknown here, or missing, counts as working", () => {
  expect([undefined, TaskState.TASK_STATE_UNSPECIFIED, 99 as TaskState].map(stateName)).toEqual(
    Array(3).fill("working"),
  );
});

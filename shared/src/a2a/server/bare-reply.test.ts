import { expect, test } from "bun:test";
import { Task } from "@a2a-js/sdk";
import type { RunRecord } from "../../core/runs/engine.ts";
import { bareReply } from "./bare-reply.ts";

const reply = (over: Partial<RunRecord>, artifacts = 1) =>
  bareReply(
    { status: "completed", output: { answer: "hi", reply: true }, ...over } as RunRecord,
    Task.fromJSON({
      id: "t",
      contextId: "c",
      metadata: { a: 1 },
      artifacts: Array.from({ length: artifacts }, (_, at) => ({
        artifactId: `t/${at}`,
        name: "answer",
        parts: [{ text: "hi" }],
      })),
    }),
  );

test("a mere reply is a message of its conversation that names no task", () => {
  expect(reply({})).toMatchObject({ messageId: "t/0", contextId: "c", taskId: "", metadata: { a: 1 } });
  expect(reply({})?.parts[0]?.content).toEqual({ $case: "text", value: "hi" });
});

test.each<readonly [Partial<RunRecord>, number]>([
  [{ status: "failed" }, 1],
  [{ status: "running" }, 1],
  [{ status: "canceled" }, 1],
  [{ output: { answer: "hi" } }, 1],
  [{ output: { answer: "hi", reply: "yes" } }, 1],
  [{ output: null }, 1],
  [{}, 0],
  [{}, 2],
])("a run with %j and %i artifacts is a task", (over, artifacts) => {
  expect(reply(over, artifacts)).toBeUndefined();
});

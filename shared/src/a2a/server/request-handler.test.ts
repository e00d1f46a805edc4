import { afterAll, expect, test } from "bun:test";
import {
  type AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  type SendMessageRequest,
  SendMessageRequest as Sent,
} from "@a2a-js/sdk";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import { callerNamed } from "../../core/caller.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import { createQuotas } from "../../runs/quotas.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import type { Receivers } from "../push/receivers.ts";
import { httpCall } from "./call-context.ts";
import { createRequestHandler, type RequestHandlerDeps } from "./request-handler.ts";

const store = scratch();
const engine = createEmbeddedEngine({ path: store.path });
/** Gives a mere reply. */
engine.work([
  {
    kind: "parrot",
    async execute(run) {
      const artifactId = `${run.id}/answer`;
      run.emit({ type: "artifact-added", artifactId, name: "answer", parts: [{ type: "text", text: "hello" }] });
      return { answer: "hello", reply: true };
    },
  },
]);
afterAll(async () => {
  await engine.close({ graceMs: 0 });
  store[Symbol.dispose]();
});

const streaming = cardOf("Parrot", "http://parrot.example");
const receivers: Receivers = {
  admit: async () => undefined,
  add: async (_, asked) => asked,
  get: async () => Promise.reject(new Error("not asked here")),
  list: async () => [],
  remove: async () => undefined,
};

const handlerOf = (card: AgentCard) =>
  createRequestHandler({
    ...{ engine, kind: "parrot", artifacts: {} as ArtifactStore, projections: createProjectionCache(engine) },
    ...{ publicUrl: "http://parrot.example", draft: "replies", dedupeMs: 0, receivers, card, requiredExtensions: [] },
    ...{ deletions: {} as RequestHandlerDeps["deletions"], quotas: createQuotas() },
    report: (bug) => {
      throw bug;
    },
  });

const calledBy = (principal: string) =>
  httpCall(new Request("http://parrot.example"), callerNamed(principal), "1.0").context;
const said = (configuration?: object): SendMessageRequest =>
  Sent.fromJSON({
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hi" }] },
    ...(configuration && { configuration }),
  });

test("a sender that names a receiver gets the task that the receiver is told of, any other a mere reply", async () => {
  const handler = handlerOf(streaming);
  const told = await handler.sendMessage(
    said({ taskPushNotificationConfig: { url: "https://hook.example" } }),
    calledBy("ann"),
  );
  expect(told).toMatchObject({ id: expect.any(String), artifacts: [{ name: "answer" }] });
  expect(await handler.sendMessage(said(), calledBy("ann"))).toMatchObject({ messageId: expect.any(String) });
});

test("an agent whose card offers no streams has none, and answers anything else", async () => {
  const handler = handlerOf({ ...streaming, capabilities: undefined });
  const task = await handler.sendMessage(said({ returnImmediately: true }), calledBy("ann"));
  const id = "id" in task ? task.id : "";
  for (const stream of [
    handler.sendMessageStream(said(), calledBy("ann")),
    handler.resubscribe({ tenant: "", id }, calledBy("ann")),
  ])
    await expect(Array.fromAsync(stream)).rejects.toBeInstanceOf(UnsupportedOperationError);
  expect(await handler.getTask(GetTaskRequest.fromJSON({ id }), calledBy("ann"))).toMatchObject({ id });
  expect((await engine.list({ kind: "parrot", principal: "ann", limit: 1 })).total).toBe(3);
});

test("a task that has ended is not canceled by its id, and is the answer to who knows only its message, if it is theirs", async () => {
  const handler = handlerOf(streaming);
  const request = said({ taskPushNotificationConfig: { url: "https://hook.example" } });
  const done = await handler.sendMessage(request, calledBy("ann"));
  const id = "id" in done ? done.id : "";
  const canceling = (named: object, by = "ann") => handler.cancelTask(CancelTaskRequest.fromJSON(named), calledBy(by));
  await expect(canceling({ id })).rejects.toBeInstanceOf(TaskNotCancelableError);
  const byMessage = { id: "-", metadata: { "manyhands/messageId": request.message?.messageId } };
  expect(await canceling(byMessage)).toMatchObject({ id, artifacts: [{ name: "answer" }] });
  await expect(canceling({ id }, "bob")).rejects.toBeInstanceOf(TaskNotFoundError);
  // It is a message that bob has not sent yet.
  const other = await canceling(byMessage, "bob");
  expect([other.id === id, other.artifacts]).toEqual([false, []]);
});

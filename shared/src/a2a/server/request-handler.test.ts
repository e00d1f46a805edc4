import { afterAll, expect, spyOn, test } from "bun:test";
import {
  type AgentCard,
  CancelTaskRequest,
  GetTaskRequest,
  type SendMessageRequest,
  SendMessageRequest as Sent,
  type StreamResponse,
  type Task,
  TaskState,
} from "@a2a-js/sdk";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { callerNamed } from "../../core/caller.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createProjectionCache } from "../../runs/projection-cache.ts";
import { createQuotas } from "../../runs/quotas.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { dedupeExtension, hitlExtension, journalExtension } from "../extensions.ts";
import type { Receivers } from "../push/receivers.ts";
import { httpCall } from "./call-context.ts";
import { createRequestHandler, type RequestHandler, type RequestHandlerDeps } from "./request-handler.ts";

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
  {
    kind: "asker",
    async execute(run) {
      const events = [{ type: "question-asked", question: "Which?", kind: "question" }];
      return await run.signal("message", { reason: "input-required", events });
    },
  },
  {
    kind: "beginner",
    async execute(run) {
      run.emit({ type: "begun" });
      return await run.signal("message", { reason: "input-required", events: [] });
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

const handlerOf = (card: AgentCard, kind = "parrot", over: Partial<RequestHandlerDeps> = {}) =>
  createRequestHandler({
    ...{ engine, kind, artifacts: {} as ArtifactStore, projections: createProjectionCache(engine) },
    ...{ publicUrl: "http://parrot.example", draft: "replies", dedupeMs: 0, receivers, card, requiredExtensions: [] },
    ...{ deletions: {} as RequestHandlerDeps["deletions"], quotas: createQuotas() },
    report: (bug) => {
      throw bug;
    },
    ...over,
  });

const calledBy = (principal: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  httpCall(new Request("http://parrot.example", { headers, ...(signal && { signal }) }), callerNamed(principal), "1.0")
    .context;
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

test("an agent knows no task of another one whose runs are in the same store", async () => {
  const handler = handlerOf(streaming);
  const task = await handlerOf(streaming, "beginner").sendMessage(said({ returnImmediately: true }), calledBy("ann"));
  const id = "id" in task ? task.id : "";
  const ann = calledBy("ann");
  for (const asked of [
    handler.getTask(GetTaskRequest.fromJSON({ id }), ann),
    handler.cancelTask(CancelTaskRequest.fromJSON({ id }), ann),
    Array.fromAsync(handler.resubscribe({ tenant: "", id }, ann)),
  ]) {
    const refused = await asked.then(String, (error: unknown) => error);
    expect(refused).toBeInstanceOf(TaskNotFoundError);
    expect(String(refused)).toContain(`There is no task ${id}.`);
  }
  await engine.cancel(id);
});

test("a stream shows as much of the task as its message wants, and its questions in the form that its call wants", async () => {
  const handler = handlerOf(streaming, "asker");
  const form = { "A2A-Extensions": hitlExtension };
  const shown = ({ payload }: StreamResponse | Record<string, never> = {}) => {
    const status = payload?.$case === "task" || payload?.$case === "statusUpdate" ? payload.value.status : undefined;
    const messages = payload?.$case === "task" ? payload.value.history.length : undefined;
    return [messages, status?.message?.metadata?.[hitlExtension] !== undefined];
  };
  for (const [headers, isInForm] of [
    [{}, false],
    [form, true],
  ] as const) {
    const updates = await Array.fromAsync(
      handler.sendMessageStream(said({ historyLength: 0 }), calledBy("eve", headers)),
    );
    expect([shown(updates[0])[0], shown(updates.at(-1))[1]]).toEqual([0, isInForm]);
    const [begun] = updates;
    const id = begun?.payload?.$case === "task" ? begun.payload.value.id : "";
    const left = new AbortController();
    const watching = handler.resubscribe({ tenant: "", id }, calledBy("eve", headers, left.signal));
    expect(shown((await watching.next()).value as StreamResponse)).toEqual([2, isInForm]);
    const read = await handler.getTask(GetTaskRequest.fromJSON({ id }), calledBy("eve", headers));
    expect(read.status?.message?.metadata?.[hitlExtension] !== undefined).toBe(isInForm);
    // Who watches a task sees it end, whatever it waits for meanwhile.
    const next = watching.next();
    await engine.cancel(id);
    expect((await next).done).toBe(false);
    left.abort();
    await watching.return();
  }
});

test("who has the last event of a task that has ended has missed nothing, and is told that it has ended", async () => {
  const handler = handlerOf(streaming);
  const sent = await handler.sendMessage(
    said({ taskPushNotificationConfig: { url: "https://x.example" } }),
    calledBy("ann"),
  );
  const { id, metadata } = sent as Task;
  const last = Number(metadata?.["manyhands/seq"]);
  const watching = (after: number) =>
    Array.fromAsync(handler.resubscribe({ tenant: "", id }, calledBy("ann", { "Last-Event-ID": `${after}` })));
  await expect(watching(last)).rejects.toBeInstanceOf(UnsupportedOperationError);
  expect((await watching(last - 1)).length).toBe(2);
});

test("who wants no wait gets the task, also of a message whose task has ended with a mere reply", async () => {
  const handler = handlerOf(streaming);
  const headers = { "A2A-Extensions": `${journalExtension}, ${dedupeExtension}` };
  const once = said();
  expect(await handler.sendMessage(once, calledBy("ann", headers))).toMatchObject({ messageId: expect.any(String) });
  const again = { ...once, configuration: said({ returnImmediately: true }).configuration };
  expect(await handler.sendMessage(again, calledBy("ann", headers))).toMatchObject({ id: expect.any(String) });
});

test("who wants to wait no longer than so long has the task, or what there is for who watches it", async () => {
  const handler = handlerOf(streaming);
  const waiting = (ms: number) => ({ ...said({ returnImmediately: true }), metadata: { "manyhands/wait": ms } });
  const journal = { "A2A-Extensions": journalExtension };
  expect(await handler.sendMessage(waiting(10_000), calledBy("ann"))).toMatchObject({ status: expect.any(Object) });
  const watched = await handler.sendMessage(waiting(10_000), calledBy("ann", journal));
  expect(watched).toMatchObject({ messageId: expect.any(String) });
  // This one shows something and goes on, and no time ends the waiting.
  using _ = spyOn(AbortSignal, "timeout").mockReturnValue(new AbortController().signal);
  const begun = handlerOf(streaming, "beginner").sendMessage(waiting(10_000), calledBy("ann", journal));
  expect(await begun).toMatchObject({ status: { state: TaskState.TASK_STATE_WORKING } });
});

test("who waits for an answer or a cancellation and goes is not waited for", async () => {
  const idle = (follow: Engine["follow"]) =>
    handlerOf(streaming, "nobody's", { engine: { ...engine, follow, cancel: async () => undefined } });
  const sent = await idle(engine.follow).sendMessage(said({ returnImmediately: true }), calledBy("ann"));
  const waits: ((handler: RequestHandler, context: ServerCallContext) => Promise<unknown>)[] = [
    (handler, context) => handler.cancelTask(CancelTaskRequest.fromJSON({ id: (sent as Task).id }), context),
    (handler, context) => handler.sendMessage(said(), context),
  ];
  for (const wait of waits) {
    const { promise: isFollowed, resolve } = Promise.withResolvers<AbortSignal | undefined>();
    const handler = idle((id, how) => {
      resolve(how?.signal);
      return engine.follow(id, how);
    });
    const gone = new AbortController();
    const waiting = wait(handler, calledBy("ann", {}, gone.signal)).catch(() => undefined);
    const signal = await isFollowed;
    expect(signal?.aborted).toBe(false);
    gone.abort();
    expect(signal?.aborted).toBe(true);
    await waiting;
  }
});

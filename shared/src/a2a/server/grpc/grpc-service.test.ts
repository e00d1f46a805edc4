import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import {
  GetTaskRequest,
  Message,
  SendMessageRequest,
  type StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import { A2AService } from "@a2a-js/sdk/server/grpc";
import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import { callerNamed } from "../../../core/caller.ts";
import { AppError } from "../../../core/errors.ts";
import { journalExtension } from "../../extensions.ts";
import { grpcService } from "./grpc-service.ts";

const update = (id: string): StreamResponse => ({
  payload: { $case: "task", value: Task.fromJSON({ id, contextId: "c" }) },
});
type Service = Record<
  string,
  (call: unknown, respond?: (error: StatusObject | null, answer?: unknown) => void) => unknown
>;

/** The service of a handler, the tenants it was asked for, and a call of it. */
function serviceOf(handler: Partial<A2ARequestHandler>) {
  const tenants: string[] = [];
  const reported: unknown[] = [];
  const service = grpcService({
    handlerOf(tenant) {
      tenants.push(tenant);
      if (tenant === "none") throw new AppError("not_found", "There is no such agent.");
      return handler as A2ARequestHandler;
    },
    identify: ({ headers }) => callerNamed(headers.get("x-user") ?? "ann"),
    admit: () => undefined,
    report: (bug) => void reported.push(bug),
  }) as unknown as Service;
  return { service, tenants, reported };
}

/** A call with this request, whose reader takes `room` updates before it has to be waited for. */
function callOf(request: Uint8Array, room = Number.POSITIVE_INFINITY) {
  const metadata = new Metadata();
  metadata.set("a2a-version", "1.0");
  metadata.set("a2a-extensions", journalExtension);
  const call = Object.assign(new EventEmitter(), {
    ...{ request, metadata, cancelled: false, room, written: [] as string[], told: [] as string[], ended: 0 },
    getPeer: () => "127.0.0.1:5",
    getPath: () => "/A2A/Get",
    sendMetadata: (one: Metadata) => void call.told.push(String(one.get("a2a-extensions"))),
    write(one: StreamResponse) {
      if (one.payload?.$case === "task") call.written.push(one.payload.value.id);
      return call.room-- > 1;
    },
    end: () => void call.ended++,
  });
  return call;
}
const watching = (tenant = "") =>
  A2AService.subscribeToTask.requestSerialize(SubscribeToTaskRequest.fromJSON({ tenant, id: "t" }));
const asking = (tenant = "") => A2AService.getTask.requestSerialize(GetTaskRequest.fromJSON({ tenant, id: "t" }));
const turn = () => new Promise((resolve) => setImmediate(resolve));
const waited = ["drain", "cancelled", "close", "error"] as const;

test("of a stream no more is pulled than its reader takes, and nothing is left of the waiting", async () => {
  let pulled = 0;
  const { service } = serviceOf({
    async *resubscribe() {
      for (const id of ["a", "b", "c", "d"]) {
        pulled++;
        yield update(id);
      }
    },
  });
  const call = callOf(watching(), 2);
  const before = waited.map((event) => call.listenerCount(event));
  const done = service.subscribeToTask?.(call);
  await turn();
  expect([call.written, pulled, call.ended]).toEqual([["a", "b"], 2, 0]);
  call.room = Number.POSITIVE_INFINITY;
  call.emit("drain");
  await done;
  expect([call.written, pulled, call.ended]).toEqual([["a", "b", "c", "d"], 4, 1]);
  // One stays that tells what works for the call that its client has gone.
  expect(waited.map((event) => call.listenerCount(event))).toEqual(
    before.map((n, at) => (waited[at] === "cancelled" ? n + 1 : n)),
  );
  expect(call.told).toEqual([journalExtension]);
});

test.each(["cancelled", "close"] as const)(
  "a reader that is waited for and goes (%s) ends the stream's source",
  async (event) => {
    let isOver = false;
    const { service } = serviceOf({
      async *resubscribe() {
        try {
          for (;;) yield update("a");
        } finally {
          isOver = true;
        }
      },
    });
    const call = callOf(watching(), 1);
    const done = service.subscribeToTask?.(call);
    await turn();
    call.cancelled = true;
    call.emit(event);
    await done;
    expect([call.written, isOver]).toEqual([["a"], true]);
  },
);

test("a message is answered by its task as it is, or by a reply as it is", async () => {
  const task = Task.fromJSON({ id: "t", contextId: "c", artifacts: [{ artifactId: "a" }], metadata: { k: 1 } });
  const reply = Message.fromJSON({ messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }], metadata: { k: 2 } });
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi" }] };
  const request = A2AService.sendMessage.requestSerialize(SendMessageRequest.fromJSON({ message }));
  for (const [sent, kind] of [
    [task, "task"],
    [reply, "message"],
  ] as const) {
    const { service } = serviceOf({ sendMessage: async () => sent });
    const { promise, resolve } = Promise.withResolvers<unknown>();
    service.sendMessage?.(callOf(request), (error, answer) => resolve(error ?? answer));
    expect(await promise).toEqual({ payload: { $case: kind, value: sent } });
  }
});

test("a stream that breaks off ends with its status, and a bug is reported and not told", async () => {
  const { service, reported } = serviceOf({
    async *resubscribe() {
      yield update("a");
      throw new TypeError("a secret");
    },
  });
  const call = callOf(watching());
  const failed = new Promise<StatusObject>((resolve) => call.once("error", resolve));
  await service.subscribeToTask?.(call);
  const { code, details } = await failed;
  expect([call.written, code, details.includes("secret"), call.ended]).toEqual([["a"], status.INTERNAL, false, 0]);
  expect(reported).toEqual([new TypeError("a secret")]);
});

test("an answer says which extensions are active; a tenant that is not there is not found, and is no task", async () => {
  const { service, tenants } = serviceOf({ getTask: async ({ id }) => Task.fromJSON({ id, contextId: "c" }) });
  const answered = (request: Uint8Array) => {
    const call = callOf(request);
    const { promise, resolve } = Promise.withResolvers<[StatusObject | null, unknown, string[]]>();
    service.getTask?.(call, (error, answer) => resolve([error, answer, call.told]));
    return promise;
  };
  const [error, answer, told] = await answered(asking("swe"));
  expect([error, (answer as Task).id, told]).toEqual([null, "t", [journalExtension]]);
  const [missing] = await answered(asking("none"));
  expect(missing).toMatchObject({ code: status.NOT_FOUND, details: "There is no such agent." });
  expect(String(missing?.metadata?.get("grpc-status-details-bin")[0])).not.toContain("TASK_NOT_FOUND");
  expect(tenants).toEqual(["swe", "none"]);
  const [cut] = await answered(Buffer.from([0x0a, 0x7f, 0x01]));
  expect(cut).toMatchObject({ code: status.INVALID_ARGUMENT });
});

test("a message that is nested too deep is refused, as over the other bindings", async () => {
  const { service } = serviceOf({ sendMessage: async () => Task.fromJSON({ id: "t", contextId: "c" }) });
  const sent = (depth: number) => {
    const data = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ data }] };
    const request = A2AService.sendMessage.requestSerialize(SendMessageRequest.fromJSON({ message }));
    const { promise, resolve } = Promise.withResolvers<unknown>();
    service.sendMessage?.(callOf(request), (error) => resolve(error));
    return promise;
  };
  expect(await sent(50)).toBeNull();
  expect(await sent(101)).toMatchObject({ code: status.INVALID_ARGUMENT });
});

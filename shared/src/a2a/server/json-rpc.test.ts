import { expect, test } from "bun:test";
import { StreamResponse, Task } from "@a2a-js/sdk";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import { callerNamed } from "../../core/caller.ts";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { QuotaError } from "../../core/runs/quota.ts";
import { cardOf } from "../../testing/a2a/card.ts";
import { FieldViolationsError, toA2AError } from "../wire-error.ts";
import { callFacts, noteFailure } from "./call-context.ts";
import { rpcApp } from "./json-rpc.ts";
import type { RequestHandler } from "./request-handler.ts";

const task = (metadata: object = {}) => Task.fromJSON({ id: "t", contextId: "c", metadata });
const update = (seq: number): StreamResponse => ({
  payload: { $case: "task", value: task({ "manyhands/seq": seq }) },
});

/** The binding over a handler whose tasks and streams are these. */
function binding(over: { readonly getTask?: () => Task; readonly stream?: () => AsyncGenerator<StreamResponse[]> }) {
  const { getTask = () => task(), stream = async function* () {} } = over;
  const contexts: ServerCallContext[] = [];
  const reported: unknown[] = [];
  const report = (bug: unknown) => void reported.push(bug);
  const opened = (_: object, context: ServerCallContext) => {
    contexts.push(context);
    return stream();
  };
  const handler = {
    async getTask(_: object, context: ServerCallContext) {
      contexts.push(context);
      try {
        return getTask();
      } catch (error) {
        const failure = toA2AError(error, report);
        noteFailure(context, failure);
        throw failure;
      }
    },
    getAgentCard: async () => cardOf("Greeter", "http://127.0.0.1:1"),
    batches: { sendMessageStream: opened, resubscribe: opened },
    resubscribe: async function* (params: object, context: ServerCallContext) {
      for await (const batch of opened(params, context)) yield* batch;
    },
  } as unknown as RequestHandler;
  const app = rpcApp({ handler, identify: async () => callerNamed("ann"), heartbeatMs: 60_000, report });
  const post = (body: object, headers: Record<string, string> = { "A2A-Version": "1.0" }) =>
    app.request("/", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", ...body }),
    });
  return { contexts, reported, post };
}
const getTask = { id: 1, method: "GetTask", params: { id: "t" } };
const throwing = (error: unknown) => () => {
  throw error;
};
const subscribe = { id: "s", method: "SubscribeToTask", params: { id: "t" } };
const resubscribe = { id: "s", method: "tasks/resubscribe", params: { id: "t" } };
const legacy = { "A2A-Version": "0.3" };

/** The data and ids of a stream's frames. */
async function framesOf(response: Response) {
  const frames = (await response.text()).split("\n\n").filter((frame) => /^data: /m.test(frame));
  return frames.map((frame) => ({
    ...JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? ""),
    seq: /^id: (.*)$/m.exec(frame)?.[1],
  }));
}

test.each<readonly [ErrorCode, number]>([
  ["unauthorized", 401],
  ["forbidden", 403],
  ["too_large", 413],
  ["rate_limited", 429],
  ["unavailable", 503],
  ["timeout", 200],
  ["internal", 200],
])("a failure with the code %s is an error under status %i", async (code, status) => {
  const { post } = binding({ getTask: throwing(new AppError(code, "No.")) });
  const answer = await post(getTask);
  expect(answer.status).toBe(status);
  expect(await answer.json()).toMatchObject({
    id: 1,
    error: { code: -32603, message: "No.", data: [{ metadata: { code } }] },
  });
  expect(answer.headers.get("Retry-After")).toBe(status === 503 ? "5" : null);
});

test("who has used up a quota learns when to come again", async () => {
  const { post } = binding({ getTask: throwing(new QuotaError("Too many.", 77)) });
  const answer = await post(getTask);
  expect([answer.status, answer.headers.get("Retry-After")]).toEqual([429, "77"]);
});

test("fields that only the handler finds wrong are named as others are; a bug is reported and not told", async () => {
  const violations = [{ field: "message.metadata", description: "is longer than 64 kB" }];
  const wrong = await binding({ getTask: throwing(new FieldViolationsError(violations)) }).post(getTask);
  expect(await wrong.json()).toMatchObject({
    error: {
      code: -32602,
      data: [{}, { "@type": expect.stringContaining("BadRequest"), fieldViolations: violations }],
    },
  });
  const { post, reported } = binding({ getTask: throwing(new TypeError("a secret")) });
  const answer = await post(getTask);
  expect(await answer.text()).not.toContain("secret");
  expect(reported).toEqual([new TypeError("a secret")]);
});

test("a request without an id is carried out and has no answer, even if it is wrong in the handler's eyes", async () => {
  for (const over of [{}, { getTask: throwing(new AppError("unavailable", "No.")) }]) {
    const { post, contexts } = binding(over);
    const { id: _, ...notification } = getTask;
    const answer = await post(notification);
    expect([answer.status, await answer.text(), contexts.length]).toEqual([204, "", 1]);
    expect(callFacts(contexts[0] as ServerCallContext).signal.aborted).toBe(true);
  }
});

test("a stream's frames have the id of the request and their place in the journal, and its end lets go", async () => {
  const { post, contexts } = binding({
    stream: async function* () {
      yield [update(3), update(4)];
      yield [update(5)];
    },
  });
  const answer = await post(subscribe);
  expect(answer.headers.get("Content-Type")).toStartWith("text/event-stream");
  const frames = await framesOf(answer);
  expect(frames.map(({ id, seq }) => [id, seq])).toEqual([
    ["s", "3"],
    ["s", "4"],
    ["s", "5"],
  ]);
  expect(frames[0]?.result.task).toMatchObject({ id: "t" });
  expect(callFacts(contexts[0] as ServerCallContext).signal.aborted).toBe(true);
});

test("a stream that fails says so in its last frame; one that fails at once is an ordinary error", async () => {
  const failure = { id: "s", error: { code: -32603, message: "The store is gone.", data: [{}] } };
  const gone = new AppError("unavailable", "The store is gone.");
  const later = binding({
    stream: async function* () {
      yield [update(3)];
      throw gone;
    },
  });
  expect((await framesOf(await later.post(subscribe))).at(-1)).toMatchObject(failure);
  const atOnce = await binding({ stream: throwing(gone) }).post(subscribe);
  expect([atOnce.status, atOnce.headers.get("Retry-After")]).toEqual([503, "5"]);
  expect(await atOnce.json()).toMatchObject(failure);
});

test("clients of 0.3 read frames of their own form, and the error of a stream that cannot be opened from a stream", async () => {
  const { post } = binding({
    stream: async function* () {
      yield [update(3)];
    },
  });
  const [frame] = await framesOf(await post(resubscribe, legacy));
  expect(frame).toMatchObject({ id: "s", seq: "3", result: { kind: "task", id: "t" } });
  const refused = await post({ ...resubscribe, params: {} }, legacy);
  expect(refused.headers.get("Content-Type")).toBe("text/event-stream");
  expect((await framesOf(refused))[0]).toMatchObject({ id: "s", error: { code: -32602 } });
  const plain = await post({ ...resubscribe, method: "tasks/get", params: {} }, legacy);
  expect(plain.headers.get("Content-Type")).toStartWith("application/json");
});

test("for clients of 0.3 a question ends the turn, and nothing else that goes on does", async () => {
  const status = (state: string, seq: number) =>
    StreamResponse.fromJSON({
      statusUpdate: {
        ...{ taskId: "t", contextId: "c", status: { state: `TASK_STATE_${state}` } },
        metadata: { "manyhands/seq": seq },
      },
    });
  const { post } = binding({
    stream: async function* () {
      yield [status("WORKING", 3), status("AUTH_REQUIRED", 4), status("INPUT_REQUIRED", 5)];
    },
  });
  const frames = await framesOf(await post(resubscribe, legacy));
  expect(frames.map(({ seq, result }) => [seq, result.status.state, result.final ?? false])).toEqual([
    ["3", "working", false],
    ["4", "auth-required", false],
    ["5", "input-required", true],
  ]);
});

test("a request that is none is refused under the id it has, as far as it has one", async () => {
  const { post } = binding({});
  const refused = async (body: object) => (await (await post(body)).json()) as { id: unknown; error: { code: number } };
  for (const id of ["seven", 7])
    expect(await refused({ id, params: {} })).toMatchObject({ id, error: { code: -32600 } });
  expect(await refused({ params: {} })).toMatchObject({ id: null, error: { code: -32600 } });
});

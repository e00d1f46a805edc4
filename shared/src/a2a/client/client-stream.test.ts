import { expect, test } from "bun:test";
import { StreamResponse, Task } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import { retrying } from "./client-retry.ts";
import { followTask } from "./client-stream.ts";

const status = (state: string, seq?: number, taskId = "t") => ({
  statusUpdate: {
    taskId,
    contextId: "c",
    status: { state: `TASK_STATE_${state}` },
    ...(seq !== undefined && { metadata: { "manyhands/seq": seq } }),
  },
});
const task = (state: string, id = "t") => ({ task: { id, contextId: "c", status: { state: `TASK_STATE_${state}` } } });
/** A task as it is after its event `seq`, with an artifact to know it by. */
const whole = (seq: number, id = "t") => ({
  task: { ...task("COMPLETED", id).task, artifacts: [{ artifactId: "sent" }], metadata: { "manyhands/seq": seq } },
});
const reply = { message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "hi" }] } };
/** A stream breaks off with this error after its frames, or ends. */
type Stream = { readonly frames?: readonly object[]; readonly fails?: ErrorCode };

/**
 * What a reader of these streams, one after the other, sees of the task, and how it asked for each.
 */
async function follow(
  streams: readonly Stream[],
  { ours = true, retries = 2, resumed = false, after = undefined as number | undefined } = {},
) {
  const asked: string[] = [];
  const left = [...streams];
  async function* next(how: string): AsyncGenerator<StreamResponse> {
    asked.push(how);
    const { frames = [], fails } = left.shift() ?? { fails: "internal" };
    for (const frame of frames) yield StreamResponse.fromJSON(frame);
    if (fails !== undefined) throw new AppError(fails, fails);
  }
  const sdk = {
    sendMessageStream: (_: unknown, { after: place }: { after?: number }) => next(`send ${place}`),
    resubscribeTask: ({ id }: { id: string }, { after: place }: { after?: number }) => next(`${id} ${place}`),
  } as unknown as Client;
  const peer = {
    sdk,
    ours,
    retry: { retries, firstPauseMs: 0 },
    get: async (id: string) => Task.fromJSON({ id, artifacts: [{ artifactId: "read" }] }),
    requestOptions: (_: object, place?: number) => ({ after: place }) as never,
  };
  const seen: string[] = [];
  try {
    const what = resumed ? { taskId: "t", ...(after !== undefined && { after }) } : { request: {} as never };
    for await (const update of followTask(peer, what)) {
      if (update.kind === "status") seen.push(`status ${update.seq}`);
      else
        seen.push(
          update.kind === "end" ? `end ${update.task.id} ${update.task.artifacts[0]?.artifactId}` : update.kind,
        );
    }
  } catch (error) {
    seen.push(error instanceof AppError ? error.code : String(error));
  }
  return { seen, asked };
}

test("the task, each update after it once and in order, and the state it was left in", async () => {
  const { seen, asked } = await follow([
    { frames: [task("WORKING"), status("WORKING", 1), status("WORKING", 2)] },
    { frames: [status("WORKING", 2), status("WORKING", 3)], fails: "unavailable" },
    { frames: [status("WORKING", 1), status("COMPLETED", 4)] },
  ]);
  expect(seen).toEqual(["task", "status 1", "status 2", "status 3", "status 4", "end t read"]);
  expect(asked).toEqual(["send undefined", "t 2", "t 3"]);
});

test.each<readonly [string, readonly object[], boolean, string]>([
  ["that is over at once is not read again", [whole(2)], true, "sent"],
  [
    "as it is after its last event is not read again",
    [task("WORKING"), status("COMPLETED", 2), whole(2)],
    true,
    "sent",
  ],
  ["that something came after is read", [whole(1), status("COMPLETED", 2)], true, "read"],
  ["older than its last event is read", [task("WORKING"), status("COMPLETED", 2), whole(1)], true, "read"],
  ["of another id is nothing", [task("WORKING"), status("COMPLETED", 2), whole(2, "other")], true, "read"],
  ["of an agent of others is read", [whole(2)], false, "read"],
])("a task %s", async (_, frames, ours, artifact) => {
  const { seen } = await follow([{ frames }], { ours });
  expect(seen.at(-1)).toBe(`end t ${artifact}`);
});

test("frames about another task change nothing", async () => {
  const foreign = [status("COMPLETED", 9, "other"), task("COMPLETED", "other")];
  const { seen } = await follow([{ frames: [task("WORKING"), ...foreign, status("COMPLETED", 1)] }]);
  expect(seen).toEqual(["task", "status 1", "end t read"]);
});

test("a reply without a task is the end, as it came", async () => {
  expect((await follow([{ frames: [reply] }])).seen).toEqual(["task", "end  m"]);
  expect((await follow([{ frames: [task("WORKING"), reply] }])).seen).toEqual(["task", "task", "end  m"]);
});

test.each<readonly [string, boolean, boolean, string, boolean]>([
  ["a message's task waits for its caller", true, false, "INPUT_REQUIRED", true],
  ["a message's task waits for authorization", false, false, "AUTH_REQUIRED", true],
  ["a watched task of ours waits for its caller", true, true, "INPUT_REQUIRED", false],
  ["a watched task of others waits for its caller", false, true, "INPUT_REQUIRED", true],
  ["a watched task of ours is over", true, true, "FAILED", true],
  ["a watched task of ours is at work", true, true, "WORKING", false],
])("a stream that ends when %s ends the following: %#", async (_, ours, resumed, state, over) => {
  const { asked } = await follow([{ frames: [status(state, 1)] }, { frames: [status("COMPLETED", 2)] }], {
    ours,
    resumed,
  });
  expect(asked).toHaveLength(over ? 1 : 2);
});

test.each<readonly [string, boolean, boolean, ErrorCode, boolean]>([
  // A message goes twice only to who takes it for the same, or did not read it.
  ["an agent of ours that is away", true, false, "unavailable", true],
  ["an agent of others that is away", false, false, "unavailable", false],
  ["an agent of others that has too much to do", false, false, "rate_limited", true],
  ["an agent of others whose task is known", false, true, "unavailable", true],
  ["an agent of ours that refuses", true, false, "forbidden", false],
  ["an agent of others that refuses, its task known", false, true, "forbidden", false],
])("the stream of %s is opened again, or its failure told: %#", async (_, ours, known, fails, again) => {
  const frames = known ? [task("WORKING")] : [];
  const { seen, asked } = await follow([{ frames, fails }, { frames: [task("COMPLETED")] }], { ours });
  expect(asked).toHaveLength(again ? 2 : 1);
  expect(seen.at(-1)).toBe(again ? "end t read" : fails);
});

test("a task that ended while nobody listened is read", async () => {
  expect((await follow([{ fails: "unsupported" }], { resumed: true })).seen).toEqual(["end t read"]);
  expect((await follow([{ fails: "unsupported" }])).seen).toEqual(["unsupported"]);
});

test("streams that break without news are opened as often as the policy says; news starts the count afresh", async () => {
  const silent: Stream = { fails: "unavailable" };
  const news = (seq: number): Stream => ({ frames: [status("WORKING", seq)], fails: "timeout" });
  expect((await follow([silent, silent, silent, silent], { resumed: true })).asked).toHaveLength(3);
  expect((await follow([silent, silent, silent], { resumed: true })).seen).toEqual(["unavailable"]);
  const mixed = await follow([silent, news(1), silent, news(2), silent, silent], { resumed: true, after: 0 });
  expect(mixed.asked).toEqual(["t 0", "t 0", "t 1", "t 1", "t 2", "t 2"]);
  const ended: Stream = { frames: [task("WORKING")] };
  expect((await follow([ended, ended, ended], { resumed: true })).seen.at(-1)).toBe("unavailable");
});

test("a call is tried again only for what may pass, as often as the policy says, and never for who gave up", async () => {
  let tries = 0;
  const tried = async (codes: readonly (ErrorCode | undefined)[], signal?: AbortSignal) => {
    tries = 0;
    const outcome = await retrying({ retries: 2, firstPauseMs: 0 }, signal, async () => {
      const code = codes[tries++];
      if (code !== undefined) throw new AppError(code, "x");
      return "done";
    }).catch((error: unknown) => (error instanceof AppError ? error.code : error));
    return [outcome, tries];
  };
  expect(await tried([undefined])).toEqual(["done", 1]);
  expect(await tried(["unavailable", "timeout", undefined])).toEqual(["done", 3]);
  expect(await tried(["unavailable", "timeout", "rate_limited", undefined])).toEqual(["rate_limited", 3]);
  expect(await tried(["not_found", undefined])).toEqual(["not_found", 1]);
  expect(await tried(["unavailable", undefined], AbortSignal.abort("given up"))).toEqual(["given up", 1]);
});

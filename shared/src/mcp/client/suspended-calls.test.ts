import { expect, jest, test } from "bun:test";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { createSuspendedCalls, type ServerCallOutcome, type SuspendedCall } from "./suspended-calls.ts";

/** Work that asks, and returns the person's answer. */
async function asking(call: SuspendedCall): Promise<ServerCallOutcome> {
  const { action } = await call.ask((id) => ({ type: "asks", question: "Really?", state: id }));
  return { type: "result", result: { content: [{ type: "text", text: action }] } };
}

test("releasing a conversation ends its calls that wait for an answer, and those of no other", async () => {
  await using ours = await workspaceForTest();
  await using theirs = await workspaceForTest();
  const held = createSuspendedCalls();
  const begin = async ({ workspace }: typeof ours) => {
    const outcome = await held.hold(contextForTest(workspace), asking);
    return outcome.type === "asks" ? held.take(String(outcome.state)) : undefined;
  };
  const [first, other] = [await begin(ours), await begin(theirs)];
  held.release(ours.workspace.root);
  const late = first?.({ action: "accept" }, contextForTest(ours.workspace));
  expect(late).rejects.toMatchObject({ code: "unavailable" });
  expect(await other?.({ action: "accept" }, contextForTest(theirs.workspace))).toMatchObject({
    result: { content: [{ text: "accept" }] },
  });
  held.release();
});

/** A step with a signal of its own. */
function step(workspace: Parameters<typeof contextForTest>[0]) {
  const control = new AbortController();
  return { control, context: contextForTest(workspace, { signal: control.signal }) };
}

test("a call belongs to its current step: an abort of that one ends it, one of an earlier step does not", async () => {
  await using place = await workspaceForTest();
  const held = createSuspendedCalls();
  const [first, second, third] = [step(place.workspace), step(place.workspace), step(place.workspace)];
  const seen: unknown[] = [];
  const reasons: unknown[] = [];
  const asked = await held.hold(first.context, async (call) => {
    call.signal.addEventListener("abort", () => reasons.push(call.signal.reason));
    seen.push(call.context());
    for (let n = 0; n < 2; n++) {
      await call.ask((id) => ({ type: "asks", question: `${n}`, state: id }));
      seen.push(call.context());
    }
    const { promise, reject } = Promise.withResolvers<never>();
    call.signal.addEventListener("abort", () => reject(call.signal.reason));
    return promise;
  });
  first.control.abort("the first step has ended");
  const id = asked.type === "asks" ? String(asked.state) : "";
  const again = await held.take(id)?.({ action: "accept" }, second.context);
  expect(again).toMatchObject({ type: "asks", question: "1" });
  expect(held.take(id)).toBeUndefined();
  second.control.abort("the second step has ended");
  const next = again?.type === "asks" ? String(again.state) : "";
  const ending = held.take(next)?.({ action: "accept" }, third.context);
  await Bun.sleep(1);
  expect(reasons).toEqual([]);
  expect(seen[1]).toBe(second.context);
  third.control.abort("enough");
  await expect(ending).rejects.toBe("enough");
  expect([reasons, seen[2]]).toEqual([["enough"], third.context]);
});

test("a step that was aborted before ends the call that it continues", async () => {
  await using place = await workspaceForTest();
  const held = createSuspendedCalls();
  const signals: AbortSignal[] = [];
  const outcome = await held.hold(contextForTest(place.workspace), async (call) => {
    signals.push(call.signal);
    await call.ask((id) => ({ type: "asks", question: "?", state: id }));
    call.signal.throwIfAborted();
    return { type: "result", result: { content: [] } };
  });
  const id = outcome.type === "asks" ? String(outcome.state) : "";
  const gone = contextForTest(place.workspace, { signal: AbortSignal.abort("gone") });
  await expect(held.take(id)?.({ action: "accept" }, gone)).rejects.toBe("gone");
  expect(signals[0]?.aborted).toBe(true);
});

test("work that has ended can be asked nothing, and its failure is the step's", async () => {
  await using place = await workspaceForTest();
  const held = createSuspendedCalls();
  const signals: AbortSignal[] = [];
  const failing = held.hold(contextForTest(place.workspace), async (call) => {
    signals.push(call.signal);
    throw new Error("it failed");
  });
  await expect(failing).rejects.toThrow("it failed");
  await Bun.sleep(0);
  expect(signals[0]?.aborted).toBe(true);
});

test("releasing all ends the calls of every conversation, and forgets them", async () => {
  await using place = await workspaceForTest();
  const held = createSuspendedCalls();
  const outcome = await held.hold(contextForTest(place.workspace), asking);
  const id = outcome.type === "asks" ? String(outcome.state) : "";
  held.release();
  await Bun.sleep(0);
  expect(held.take(id)).toBeUndefined();
});

test("a question waits for a day", async () => {
  await using place = await workspaceForTest();
  const held = createSuspendedCalls();
  jest.useFakeTimers();
  try {
    const outcome = await held.hold(contextForTest(place.workspace), asking);
    const id = outcome.type === "asks" ? String(outcome.state) : "";
    jest.advanceTimersByTime(24 * 60 * 60 * 1000 - 1);
    for (let n = 0; n < 5; n++) await Promise.resolve();
    expect(held.take(id)).toBeDefined();
    jest.advanceTimersByTime(1);
    for (let n = 0; n < 20; n++) await Promise.resolve();
    expect(held.take(id)).toBeUndefined();
  } finally {
    jest.useRealTimers();
  }
});

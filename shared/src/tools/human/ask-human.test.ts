import { expect, test } from "bun:test";
import type { Json } from "../../core/json.ts";
import type { Part, UserMessage } from "../../core/message.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest, durableContextForTest } from "../../testing/tool-context.ts";
import { askHuman } from "./ask-human.ts";

/** The waiting part of a run: the test sends signals, and decides when sleeps end. */
function waitingRun() {
  const events: RunEvent[] = [];
  const waits: { name: string; reason: string | undefined }[] = [];
  const arrival = Promise.withResolvers<Json>();
  const timer = Promise.withResolvers<void>();
  const unused = () => {
    throw new Error("not used here");
  };
  const run: Run = {
    id: "r1",
    principal: "p1",
    contextId: "c1",
    abortSignal: new AbortController().signal,
    step: unused,
    poll: unused,
    all: unused,
    emit: (event) => events.push(event),
    sleep: () => timer.promise,
    signal: <T extends Json>(name: string, options?: { reason?: string; events?: readonly RunEvent[] }) => {
      waits.push({ name, reason: options?.reason });
      events.push(...(options?.events ?? []));
      return arrival.promise as Promise<T>;
    },
    race: (branches) => Promise.race(branches.map((branch) => branch(run))),
  };
  return { run, events, waits, answer: (message: UserMessage) => arrival.resolve(message), timeOut: timer.resolve };
}

const context = durableContextForTest();

const said = (...parts: Part[]): UserMessage => ({ messageId: "m2", parts });

test("the question is emitted with the wait, and the answer's text is the result", async () => {
  const { run, events, waits, answer } = waitingRun();
  const result = askHuman().callDurably?.({ inquire: "Which year?" }, run, context);
  expect(events).toEqual([{ type: "question-asked", question: "Which year?", kind: "question" }]);
  expect(waits).toEqual([{ name: "message", reason: "input-required" }]);
  answer(said({ type: "text", text: "2026" }));
  expect(await result).toEqual({ text: "2026", isError: false });
  expect(events.at(-1)).toEqual({ type: "message-heard", messageId: "m2", as: "answer" });
});

test("files, links and data of the answer are named", async () => {
  const { run, answer } = waitingRun();
  answer(
    said(
      { type: "text", text: "See these:" },
      { type: "file", sha256: "0".repeat(64), name: "a.csv", mediaType: "text/csv", size: 12 },
      { type: "url", url: "https://example.org/b" },
      { type: "data", data: { approved: true } },
    ),
  );
  const result = await askHuman().callDurably?.({ inquire: "What?" }, run, context);
  expect(result?.text).toBe(
    'See these:\n[Attached file: a.csv (text/csv, 12 bytes)]\n[Attached link: https://example.org/b]\n{"approved":true}',
  );
});

test("files of the answer are named as they were placed in the workspace", async () => {
  const { run, answer } = waitingRun();
  const placed: Part[][] = [];
  const place = async (parts: readonly Part[]) => {
    placed.push([...parts]);
    return [{ type: "text" as const, text: "saved as a.csv" }];
  };
  answer(said({ type: "text", text: "here" }));
  const result = await askHuman().callDurably?.({ inquire: "What?" }, run, { ...context, place });
  expect([result?.text, placed]).toEqual(["saved as a.csv", [[{ type: "text", text: "here" }]]]);
});

test("an agent with a time limit learns that nobody answered", async () => {
  const { run, timeOut } = waitingRun();
  const result = askHuman().callDurably?.({ inquire: "Anyone?" }, run, { ...context, answerMs: 1000 });
  timeOut();
  expect(await result).toMatchObject({ isError: true, text: expect.stringContaining("Nobody answered in time.") });
});

test("an answer in time wins over the timeout", async () => {
  const { run, answer } = waitingRun();
  const result = askHuman().callDurably?.({ inquire: "Anyone?" }, run, { ...context, answerMs: 1000 });
  answer(said({ type: "text", text: "" }));
  expect(await result).toEqual({ text: "", isError: false });
});

test("an empty question is not asked", async () => {
  const { run, events } = waitingRun();
  for (const input of [{ inquire: "" }, {}, "text"]) {
    const result = await askHuman().callDurably?.(input, run, context);
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining("Invalid arguments for ask_human") });
  }
  expect(events).toEqual([]);
});

test("without a run that can wait, the tool fails and does not hang", async () => {
  await using place = await workspaceForTest();
  expect((await askHuman().call({ inquire: "?" }, contextForTest(place.workspace))).isError).toBe(true);
});

test("a question belongs to the family it is approved by, may be asked again, and brings nothing from outside", () => {
  const tool = askHuman();
  expect([tool.family, tool.brings, tool.effect({ inquire: "?" })]).toEqual(["human", [], "pure"]);
});

import { expect, test } from "bun:test";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import { loop } from "./loop.ts";

const asked = ({ messages }: ChatRequest) => JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
const iterations = (events: readonly ReadEvent[]) =>
  flowEvents(events, "iteration-ended").map(({ iteration, outcome }) => `${iteration} ${outcome}`);
const partial = (events: readonly ReadEvent[]) =>
  events.flatMap((event) => (event.type === "artifact-added" && event.name === "partial-answer" ? event.parts : []));
const checked = (passed: boolean, feedback: string, score = passed ? 1 : 0) => ({
  calls: [{ name: "check_work", args: { passed, feedback, score } }],
});
const formed = (response: object) => ({ calls: [{ name: "create_chat_completion", args: { response } }] });
const refusal = (summary: string) => ({ calls: [{ name: "terminate", args: { status: "failure", summary } }] });
const drafts = (_: ChatRequest, n: number) => ({ text: `draft ${n + 1}` });

test("work is repeated with the check's feedback, in the same conversation, until the model says it passed", async () => {
  const model = [checked(false, "too long"), checked(true, "five words")];
  await using flow = await flowForTest(loop, {
    agents: { writer: (request, n) => ({ text: n === 0 ? "long" : `short after ${/too long/.exec(asked(request))}` }) },
    model,
  });
  const { answer, events, record } = await flow.run({ text: "A slogan", agents: ["writer"] });
  expect(answer).toBe("short after too long");
  expect(iterations(events)).toEqual(["1 not_passed", "2 passed"]);
  expect(record.output).toMatchObject({
    data: { iterations: [{ feedback: "too long", passed: false }, { passed: true }] },
  });
  const contexts = (await flow.agent("writer").tasks()).map(({ contextId }) => contextId);
  expect(new Set(contexts).size).toBe(1);
  expect(JSON.stringify(flow.model.requests[0]?.body.messages)).toContain("What is wanted: A slogan");
});

test("another agent judges in a schema, and gets the work and its files", async () => {
  await using flow = await flowForTest(loop, {
    agents: {
      writer: drafts,
      critic: (request) => {
        const passed = asked(request).includes("draft 2") && asked(request).includes("two drafts");
        return formed({ passed, feedback: passed ? "good" : "more", score: passed ? 1 : 0.5 });
      },
    },
  });
  const until = { by: "agent", agent: "critic", criteria: "two drafts" };
  const { answer, events } = await flow.run({ text: "Write", agents: ["writer"], options: { until } });
  expect([answer, iterations(events)]).toEqual(["draft 2", ["1 not_passed", "2 passed"]]);
});

test("a command decides by exit code 0 alone, run where the work was done; what it printed is the feedback", async () => {
  await using flow = await flowForTest(loop, {
    agents: {
      coder: (request) => {
        const text = asked(request);
        const last = request.messages.filter(({ role }) => role === "assistant").length;
        if (!text.includes("Run exactly this command")) return { text: `code ${/2 failed/.exec(text) ?? "1"}` };
        const codes = [1, 2, -1, 0];
        return formed({ exit_code: codes[(last - 1) / 2], output: last < 7 ? "2 failed" : "" });
      },
    },
  });
  const until = { by: "command", command: "bun test" };
  const { answer, events } = await flow.run({ text: "Fix", options: { agent: "coder", until } });
  expect([answer, iterations(events)]).toEqual([
    "code 2 failed",
    ["1 not_passed", "2 not_passed", "3 not_passed", "4 passed"],
  ]);
  const tasks = await flow.agent("coder").tasks();
  expect([tasks.length, new Set(tasks.map(({ contextId }) => contextId)).size]).toEqual([8, 1]);
  expect(flowEvents(events, "iteration-ended")[0]).toMatchObject({
    feedback: "The command ended with exit code 1: bun test\n2 failed",
  });
});

test("the same answer with the same feedback twice is no progress: the loop stops as stuck", async () => {
  await using flow = await flowForTest(loop, {
    agents: { writer: () => ({ text: "this" }) },
    model: () => checked(false, "not that"),
  });
  const { record, events } = await flow.run({ text: "Write", agents: ["writer"], options: { maxIterations: 20 } });
  expect(record.error).toEqual({
    code: "stuck",
    message: "No progress: iterations 1 and 2 came to the same answer and the same feedback. not that",
  });
  expect(iterations(events)).toHaveLength(2);
});

test("files that change are progress, though the words stay the same", async () => {
  const writes = (file_text: string) => ({
    calls: [{ name: "str_replace_editor", args: { command: "create", path: "slogan.md", file_text, overwrite: true } }],
  });
  await using flow = await flowForTest(loop, {
    agents: { writer: (_, n) => (n % 2 === 0 ? writes(`draft ${n}`) : { text: "I wrote it." }) },
    model: (_, n) => checked(n === 2, "shorter"),
  });
  const { record, events } = await flow.run({ text: "Write", agents: ["writer"], options: { maxIterations: 5 } });
  expect(record.status).toBe("completed");
  expect(iterations(events)).toHaveLength(3);
});

test("a check that never passes stops at the limit with its name and the best attempt", async () => {
  const scores = [0.2, 0.8, 0.5];
  await using flow = await flowForTest(loop, {
    agents: { writer: drafts },
    model: (_, n) => checked(false, `missing ${n}`, scores[n] ?? 0),
  });
  const { record, events } = await flow.run({ text: "Write", agents: ["writer"], options: { maxIterations: 3 } });
  expect(record.error).toEqual({
    code: "step_limit",
    message: "The check did not pass in 3 iterations, which is the bound. missing 2",
  });
  expect(partial(events)).toEqual([{ type: "text", text: "draft 2\n\nThe check did not pass: missing 1" }]);
});

test("a failed attempt counts, and the next one knows why; a failure that would repeat ends the loop", async () => {
  const model = [checked(true, "there")];
  await using flow = await flowForTest(loop, {
    agents: {
      writer: (request, n) =>
        n === 0 ? refusal("no paper") : { text: `done after ${/no paper/.exec(asked(request))}` },
    },
    model,
  });
  const { answer, events } = await flow.run({ text: "Write", agents: ["writer"] });
  expect([answer, iterations(events)]).toEqual(["done after no paper", ["1 failed", "2 passed"]]);
  const { record } = await flow.run({ text: "Write", agents: ["writer"], hops: 8 });
  expect(record.error?.message).toStartWith("Iteration 1: writer failed: The task has passed through 8 agents");
});

test("a check that cannot be made ends the loop, and the work is kept", async () => {
  await using flow = await flowForTest(loop, { agents: { writer: drafts, critic: [refusal("no idea")] } });
  const until = { by: "agent", agent: "critic" };
  const { record, events } = await flow.run({ text: "Write", agents: ["writer"], options: { until } });
  expect(record.error?.message).toStartWith("The check could not be made: critic failed: no idea");
  expect(partial(events)).toEqual([{ type: "text", text: "draft 1" }]);
});

test("what the user says during the attempt that passes leads to another one, which is checked by it too", async () => {
  const added = Promise.withResolvers<void>();
  await using flow = await flowForTest(loop, {
    agents: {
      writer: (request, n) => ({
        text: n === 0 ? "five words" : `in red after ${/passed its check/.exec(asked(request))}`,
        ...(n === 0 && { midway: added.promise }),
      }),
    },
    model: (request) =>
      checked(true, /in red/.test(asked(request)) ? "red" : "five", /in red/.test(asked(request)) ? 0.7 : 1),
  });
  const id = await flow.start({ text: "A slogan", agents: ["writer"] });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "In red, please.");
  added.resolve();
  const { output } = await flow.until(id, "completed", "failed");
  expect(output).toMatchObject({ answer: "in red after passed its check" });
  expect(iterations(await flow.events(id))).toEqual(["1 passed", "2 passed"]);
  expect(JSON.stringify(flow.model.requests.at(-1)?.body.messages)).toContain("In red, please.");
});

test("files of earlier attempts are checked and kept together with new ones", async () => {
  const writes = (path: string) => ({
    calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: path } }],
  });
  const script = [writes("one.txt"), { text: "first" }, writes("two.txt"), { text: "second" }];
  const model = ({ messages }: ChatRequest) => {
    const text = JSON.stringify(messages);
    return checked(text.includes("one.txt") && text.includes("two.txt"), "both files");
  };
  await using flow = await flowForTest(loop, { agents: { writer: script }, model });
  const { answer, events } = await flow.run({ text: "Write two", agents: ["writer"] });
  expect(answer).toBe("second");
  const names = events.flatMap((event) => (event.type === "artifact-added" ? [event.name] : []));
  expect(new Set(names)).toEqual(new Set(["one.txt", "two.txt", "answer"]));
});

test("what the user adds meanwhile is part of the task from then on, for the check too", async () => {
  const model = ({ messages }: ChatRequest) => checked(JSON.stringify(messages).includes("in French"), "not yet");
  const slow = (_: ChatRequest, n: number) => ({ text: `draft ${n}`, delayMs: n === 0 ? 300 : 0 });
  await using flow = await flowForTest(loop, { agents: { writer: slow }, model });
  const id = await flow.start({ text: "Write", agents: ["writer"] });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "in French");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: "draft 1" });
});

test("the agent knows from the start how its work is checked", async () => {
  const told: string[] = [];
  const hears = (request: ChatRequest) => {
    told.push(asked(request));
    return { text: '{"exit_code": 0, "output": ""}' };
  };
  await using flow = await flowForTest(loop, { agents: { writer: hears }, model: [checked(true, "there")] });
  const run = (until: object) => flow.run({ text: "Write", agents: ["writer"], options: { until } });
  await run({ by: "model", criteria: "Three lines" });
  await run({ by: "command", command: "wc -l" });
  expect(told[0]).toContain("Write\\n\\nIt is done when: Three lines");
  expect(told[1]).toContain("It is done when this command, run where you work, ends with exit code 0:\\nwc -l");
  expect(told[2]).not.toMatch(/\$schema|9007199254740991/);
});

test("files the user adds meanwhile go to the agent once", async () => {
  const model = (_: ChatRequest, n: number) => checked(n === 2, `not yet ${n}`);
  const slow = (_: ChatRequest, n: number) => ({ text: `draft ${n}`, delayMs: n === 0 ? 300 : 0 });
  await using flow = await flowForTest(loop, { agents: { writer: slow }, model });
  const file = await flow.artifacts.put(new TextEncoder().encode("a,b"), { name: "list.csv" });
  const id = await flow.start({ text: "Write", agents: ["writer"] });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "with this list", [{ type: "file", ...file }]);
  await flow.until(id, "completed");
  const asks = (await flow.events(id)).filter((event) => event.type === "agent-asked");
  expect(asks.map(({ parts }) => parts.filter(({ type }) => type === "file").length)).toEqual([0, 1, 0]);
});

test("the loop asks an agent's question, and a canceled loop cancels the running task", async () => {
  const asks = [{ calls: [{ name: "ask_human", args: { inquire: "Which bakery?" } }] }, { text: "Ada's" }];
  await using flow = await flowForTest(loop, {
    agents: { writer: asks, slow: () => ({ text: "late", delayMs: 600_000 }) },
    model: [checked(true, "there")],
  });
  const id = await flow.start({ text: "Write", agents: ["writer"] });
  await flow.event(id, "question-asked");
  await flow.say(id, "Ada's");
  expect((await flow.until(id, "completed")).output).toMatchObject({ answer: "Ada's" });
  const other = await flow.start({ text: "Write", agents: ["slow"] });
  await flow.event(other, "agent-accepted");
  await flow.engine.cancel(other);
  await flow.until(other, "canceled");
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10)) {
    const [task] = await flow.agent("slow").tasks();
    if (task?.status === "canceled") return;
  }
  throw new Error("the agent still works");
});

test("a loop without an agent is refused when it is accepted, a wrong checker before any work", async () => {
  expect(() => flowRequest(loop, { message: { parts: [{ type: "text", text: "Go" }] }, flow: {} })).toThrow(
    "agents: name the agent that works",
  );
  await using flow = await flowForTest(loop, { agents: { writer: drafts } });
  const options = { until: { by: "agent", agent: "nobody" } };
  const { record } = await flow.run({ text: "Go", agents: ["writer"], options });
  expect(record.error?.code).toBe("invalid_input");
  expect(await flow.agent("writer").tasks()).toEqual([]);
});

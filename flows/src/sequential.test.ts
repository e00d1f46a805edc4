import { expect, test } from "bun:test";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import { flowRequest } from "manyhands/internal/flow/flow-request";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { flowEvents, flowForTest } from "manyhands/internal/testing/flow";
import { sequential } from "./sequential.ts";
import { paperAnswer, paperFile, paperFlow } from "./testing/paper-flow.ts";

const asked = ({ messages }: ChatRequest) => JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
const outcomes = (events: readonly ReadEvent[]) =>
  flowEvents(events, "step-ended").map(({ step, agent, outcome }) => `${step} ${agent} ${outcome}`);
const artifact = (events: readonly ReadEvent[], name: string) =>
  events.flatMap((event) => (event.type === "artifact-added" && event.name === name ? [event.parts] : []));
const refusal = { calls: [{ name: "terminate", args: { status: "failure", summary: "no such orders" } }] };

/** An agent that writes a file, then says so. */
const writes = (path: string, text: string) => (_: ChatRequest, n: number) =>
  n % 2 === 0
    ? { calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: text } }] }
    : { text: `wrote ${path}` };

test("agents work in the caller's order, each with the results before it, and one may appear twice", async () => {
  await using flow = await flowForTest(sequential, {
    agents: {
      writer: (request, n) => ({ text: n === 0 ? "draft" : `final after ${/too short/.exec(asked(request))}` }),
      critic: (request) => ({ text: asked(request).includes("draft") ? "too short" : "nothing to see" }),
    },
  });
  const { record, events, answer } = await flow.run({ text: "Write it", agents: ["writer", "CRITIC", "writer"] });
  expect(record.status).toBe("completed");
  expect(answer).toBe("final after too short");
  expect(outcomes(events)).toEqual(["1 writer completed", "2 critic completed", "3 writer completed"]);
  const last = events.findLast((event) => event.type === "artifact-added");
  expect(last).toMatchObject({ name: "answer" });
});

test("each agent gets the caller's files and those of the agents before, and passes them on", async () => {
  await using flow = await flowForTest(sequential, {
    agents: { maker: writes("report.md", "# Report"), reader: (request) => ({ text: asked(request) }) },
  });
  const orders = await flow.artifacts.put(new TextEncoder().encode("a,b"), { name: "orders.csv" });
  const { events, answer } = await flow.run({
    text: "Report",
    agents: ["maker", "reader"],
    files: [{ type: "file", ...orders }],
  });
  expect(answer).toContain("orders.csv");
  expect(answer).toContain("report.md");
  const [parts] = artifact(events, "report.md");
  const [file] = parts ?? [];
  expect(file?.type === "file" && (await (await flow.artifacts.get(file.sha256))?.text())).toBe("# Report");
});

test("an agent gets the files of all agents before it, not only of the last", async () => {
  await using flow = await flowForTest(sequential, {
    agents: {
      maker: writes("report.md", "# Report"),
      critic: () => ({ text: "well done" }),
      reader: (request) => ({ text: asked(request) }),
    },
  });
  const steps = ["maker", "critic", "reader"].map((agent) => ({ agent, instruction: "Do your part." }));
  const { answer } = await flow.run({ text: "Report", options: { steps } });
  expect(answer).toContain("report.md");
});

test("a step's instruction comes from its template", async () => {
  await using flow = await flowForTest(sequential, {
    agents: { one: () => ({ text: "{goal} said one" }), two: (request) => ({ text: asked(request) }) },
  });
  const steps = [{ agent: "one" }, { agent: "two", instruction: "{step}/{agent}: {previous} | {goal} | {unknown}" }];
  const { answer } = await flow.run({ text: "G", options: { steps } });
  expect(answer).toContain("2/two: {goal} said one | G | {unknown}");
});

test("each agent learns who works before and after it, and which part of the task is its own", async () => {
  const told: string[] = [];
  const hears = (request: ChatRequest) => {
    told.push(asked(request));
    return { text: "<report>done</report>" };
  };
  await using flow = await flowForTest(sequential, { agents: { cook: hears, waiter: hears, guest: hears } });
  await flow.run({ text: "Dinner", agents: ["cook", "waiter", "guest"] });
  expect(told[0]).toContain("1. cook (you)\\n2. waiter: Does what waiter does.\\n3. guest: Does what guest does.");
  expect(told.map((text) => text.includes("leave the rest to those after you"))).toEqual([true, true, false]);
  expect(told[2]).toContain("Step 2, by waiter:\\n<report>\\n&lt;report>done&lt;/report>\\n</report>");
  expect(told[2]).toContain("You are the last");
  // What the task asks for is asked of the last one only: for the others it is a quotation.
  expect(told.map((text) => text.includes("> Dinner"))).toEqual([true, true, false]);
});

test("a failure ends the flow, and the results so far are kept", async () => {
  await using flow = await flowForTest(sequential, {
    agents: { good: () => ({ text: "half of it" }), bad: [refusal], late: () => ({ text: "never" }) },
  });
  const { record, events } = await flow.run({ text: "Go", agents: ["good", "bad", "late"] });
  expect(record.error).toEqual({
    code: "task_failed",
    message: expect.stringContaining("Step 2: bad failed: no such orders"),
  });
  expect(artifact(events, "partial-answer")).toEqual([[{ type: "text", text: "half of it" }]]);
  expect(await flow.agent("late").tasks()).toEqual([]);
});

test("or the flow continues without that step, and the answer says so", async () => {
  await using flow = await flowForTest(sequential, {
    agents: {
      bad: [refusal],
      good: (request) => ({ text: asked(request).includes("no such orders") ? "told" : "not" }),
    },
  });
  const { record, answer } = await flow.run({
    text: "Go",
    agents: ["bad", "good"],
    options: { onFailure: "continue" },
  });
  expect(record.status).toBe("completed");
  expect(answer).toStartWith("told\n\nNot everything worked:\nStep 1: bad failed: no such orders");
});

test("a step's own onFailure overrides the flow's", async () => {
  const agents = { bad: [refusal, refusal], good: () => ({ text: "told" }) };
  const own = async (each: string, all: string) => {
    await using flow = await flowForTest(sequential, { agents });
    const steps = [{ agent: "bad", onFailure: each }, { agent: "good" }];
    return (await flow.run({ text: "Go", options: { steps, onFailure: all } })).record.status;
  };
  expect([await own("continue", "stop"), await own("stop", "continue")]).toEqual(["completed", "failed"]);
});

test("if no step completes, the flow fails", async () => {
  await using flow = await flowForTest(sequential, { agents: { bad: [refusal] } });
  const { record } = await flow.run({ text: "Go", agents: ["bad"], options: { onFailure: "continue" } });
  expect(record).toMatchObject({ status: "failed", error: { code: "task_failed" } });
});

test("the next agent receives what the caller says meanwhile", async () => {
  await using flow = await flowForTest(sequential, {
    agents: { slow: () => ({ text: "one", delayMs: 300 }), next: (request) => ({ text: asked(request) }) },
  });
  const id = await flow.start({ text: "Go", agents: ["slow", "next"] });
  await flow.event(id, "agent-accepted");
  await flow.say(id, "in French, please");
  const record = await flow.until(id, "completed");
  expect(JSON.stringify(record.output)).toContain("in French, please");
});

test("what is said while the last agent works is read before its next turn", async () => {
  const two = ({ messages }: ChatRequest, n: number) => {
    const read = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    if (read.includes("In red.")) return { text: JSON.stringify(read.at(-1)) };
    // Each differs, or the agent is told that it repeats itself.
    const args = { command: "create", path: `${n}.txt`, file_text: "x" };
    return { calls: [{ name: "str_replace_editor", args }], delayMs: 100 };
  };
  await using flow = await flowForTest(sequential, { agents: { one: () => ({ text: "1" }), two } });
  const id = await flow.start({ text: "Go", agents: ["one", "two"] });
  await flow.event(id, "agent-accepted", 2);
  await flow.say(id, "In red.");
  expect((await flow.until(id, "completed", "failed")).output).toMatchObject({ answer: '"In red."' });
});

test("a run that began with the first body passes nothing on that is said while the last agent works", async () => {
  const { flow, shown } = paperFlow({ agents: [{ name: "one" }] } as never, { asked: [paperAnswer("one")] });
  await sequential.former?.at(-1)?.perform(flow, { onFailure: "stop" } as never);
  expect(shown.asks.map(({ options }) => options)).toEqual([{ isAnswer: true }]);
});

test("a wrong agent is refused before any is asked, and a flow without agents when it is accepted", async () => {
  await using flow = await flowForTest(sequential, { agents: { one: () => ({ text: "1" }) } });
  const { record } = await flow.run({ text: "Go", options: { steps: [{ agent: "one" }, { agent: "nobody" }] } });
  expect(record.error).toEqual({ code: "invalid_input", message: 'There is no agent "nobody"; there are: one.' });
  expect(await flow.agent("one").tasks()).toEqual([]);
  expect(() => flowRequest(sequential, { message: { parts: [{ type: "text", text: "Go" }] }, flow: {} })).toThrow(
    "agents: name the agents",
  );
});

test("only what the last agent writes is shown as the flow's answer", async () => {
  const agents = ["one", "two", "three"].map((name) => ({ name, title: name, description: "", skills: [], url: "" }));
  const asked = agents.map(({ name }) => paperAnswer(name));
  const { flow, shown } = paperFlow(
    { agents: agents.map((agent) => ({ ...agent, kind: "agent" as const })) },
    { asked },
  );
  await sequential.perform(flow, { onFailure: "stop" });
  const earlier = { isAnswer: false };
  expect(shown.asks.map(({ options }) => options)).toEqual([earlier, earlier, { isAnswer: true, passMessages: true }]);
});

test("each step is told the task, its place, and all that came before; what was made last of each name goes along", async () => {
  const agents = ["one", "two", "three"].map((name) => ({
    ...{ name, title: name, description: `Does ${name}.`, skills: [], url: "", kind: "agent" as const },
  }));
  const file = (name: string, text: string) => ({ type: "file", ...paperFile(name, text) }) as const;
  const asked = [
    paperAnswer("first", {
      ...{ files: [paperFile("a", "old"), paperFile("b", "b")], data: 0 },
      artifacts: [{ name: "figures", parts: [] }],
    }),
    paperAnswer("half", {
      ...{ agent: "two", state: "failed", error: { code: "task_failed", message: "no paper" } },
      files: [paperFile("a", "new")],
    } as const),
    paperAnswer("last", { agent: "three" }),
  ];
  const [handedOn, reached, expected]: [unknown[], string[], unknown[]] = [[], [], []];
  const { flow, shown } = paperFlow(
    {
      ...{ agents, earlier: "before", files: [file("given", "given")] },
      handOn: (files, artifacts = []) =>
        void handedOn.push([...files.map(({ sha256 }) => sha256), ...artifacts.map(({ name }) => name)]),
      reached: (text) => void reached.push(text),
      expect: (...calls) => void expected.push(calls),
      receiveMessages: async () => (shown.asks.length === 1 ? ["quickly"] : []),
    },
    { asked },
  );
  const { answer, data } = await sequential.perform(flow, { onFailure: "continue" });
  const task = "Earlier in this conversation:\nbefore\n\nNow:\n";
  expect(shown.asks[0]?.text).toStartWith(
    `${task}The task:\n> The goal\n\nAgents work on this one after the other:\n1. one (you)\n`,
  );
  expect(shown.asks[1]?.text).toEndWith("leave the rest to those after you.\n\nThe user added:\nquickly");
  expect(shown.asks[2]?.text).toContain(
    `${task}The task: The goal\n\nAgents work on it one after the other:\n1. one: Does one.\n2. two: Does two.\n3. three (you)\n`,
  );
  expect(shown.asks[2]?.text).toContain(
    "\n\nStep 1, by one:\n<report>\nfirst\n</report>\n\nStep 2, by two:\n[two failed: no paper]\n\nGo on",
  );
  const given = file("given", "given");
  expect(shown.asks.map(({ parts }) => parts)).toEqual([
    [given],
    [given, file("a", "old"), file("b", "b")],
    [given, file("a", "new"), file("b", "b")],
  ]);
  expect([handedOn, reached, expected]).toEqual([[["old", "b", "figures"], ["new"], []], ["first", "last"], [[3]]]);
  expect(answer).toBe("last\n\nNot everything worked:\nStep 2: two failed: no paper");
  expect(data).toMatchObject({
    steps: [{ state: "completed", data: 0 }, { state: "failed", error: { message: "no paper" } }, { answer: "last" }],
  });
});

test("what was said before is what completed last, whatever failed since", async () => {
  const failed = { state: "failed", error: { code: "task_failed", message: "no" } } as const;
  const asked = [paperAnswer("first"), paperAnswer("half", failed), paperAnswer("last")];
  const { flow, shown } = paperFlow({}, { asked });
  const steps = [{ agent: "one" }, { agent: "two" }, { agent: "three", instruction: "{previous}!" }];
  await sequential.perform(flow, { steps, onFailure: "continue" });
  expect(shown.asks[2]?.text).toBe("first!");
});

import { expect, test } from "bun:test";
import * as z from "zod";
import type { ReadEvent } from "../core/events/events.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import { saveFile } from "../machine/workspace/save-file.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { gateForTest } from "../testing/agent/gate-tool.ts";
import type { ScriptedReply } from "../testing/models/scripted-model.ts";
import { askHuman } from "../tools/human/ask-human.ts";
import { terminate } from "../tools/human/terminate.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});

const call = (name: string, args: unknown) => ({ calls: [{ name, args }] });
const ofType = <T extends ReadEvent["type"]>(events: ReadEvent[], type: T) =>
  events.filter((event): event is Extract<ReadEvent, { type: T }> => event.type === type);

test("text without calls is the answer, and the last artifact", async () => {
  await using agent = await agentForTest({ script: [{ text: "Four." }] });
  const { record, events } = await agent.run("Two and two?");
  expect(record).toMatchObject({ status: "completed", output: { answer: "Four." } });
  expect(events.map((event) => event.type)).toEqual([
    "message-received",
    "message-heard",
    "step-started",
    "model-replied",
    "artifact-added",
    "run-ended" as ReadEvent["type"],
  ]);
  expect(ofType(events, "artifact-added")[0]).toMatchObject({
    name: "answer",
    parts: [{ type: "text", text: "Four." }],
  });
});

test("a tool is called with what the model wrote, and the model reads the result", async () => {
  await using agent = await agentForTest({ script: [call("echo", { text: "hi" }), { text: "done" }], tools: [echo] });
  const { events } = await agent.run("Say hi.");
  expect(ofType(events, "tool-ended")).toMatchObject([{ name: "echo", text: "hi", isError: false }]);
  const second = agent.model.requests[1]?.body.messages ?? [];
  expect(second.map((message) => message.role)).toEqual(["system", "user", "assistant", "tool"]);
  expect(second.at(-1)?.content).toBe("hi");
});

test("terminate with success ends the task with its summary", async () => {
  await using agent = await agentForTest({
    script: [call("terminate", { status: "success", summary: "All done." })],
    tools: [terminate],
  });
  const { record } = await agent.run("Do it.");
  expect(record).toMatchObject({ status: "completed", output: { answer: "All done." } });
});

test("terminate with failure fails the task with its reason", async () => {
  await using agent = await agentForTest({
    script: [{ text: "I tried.", ...call("terminate", { status: "failure", summary: "No such file." }) }],
    tools: [terminate],
  });
  const { record, events } = await agent.run("Do it.");
  expect(record).toMatchObject({ status: "failed", error: { code: "task_failed", message: "No such file." } });
  expect(ofType(events, "artifact-added").map(({ name }) => name)).toEqual(["partial-answer"]);
});

test.each([
  { tools: [], agent: {} },
  { tools: [terminate], agent: { toolChoice: "required" } },
] as const)(
  "a model that refuses has failed its task, whatever ends it otherwise",
  async ({ tools, agent: chosen }) => {
    await using agent = await agentForTest({ script: [{ refusal: "I cannot do that." }], tools, agent: chosen });
    const { record, events } = await agent.run("Do it.");
    expect(record).toMatchObject({ status: "failed", error: { code: "task_failed", message: "I cannot do that." } });
    expect(ofType(events, "artifact-added")).toEqual([]);
  },
);

test("a call that failed in the same turn keeps terminate from claiming success", async () => {
  await using agent = await agentForTest({
    script: [
      {
        calls: [
          { name: "fly", args: {} },
          { name: "terminate", args: { status: "success", summary: "Flew." } },
        ],
      },
      call("terminate", { status: "success", summary: "Walked." }),
    ],
    tools: [terminate],
  });
  const { record } = await agent.run("Go there.");
  expect(record.output).toMatchObject({ answer: "Walked." });
  expect(agent.model.requests).toHaveLength(2);
  expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain("fly failed");
});

test("a call still running when the task's time is up is stopped, and the task ends as time_limit", async () => {
  const sleep = defineTool({
    name: "sleep",
    description: "Sleeps.",
    input: z.strictObject({}),
    effect: "pure",
    run: (_, { signal }) =>
      new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  await using agent = await agentForTest({ script: () => call("sleep", {}), tools: [sleep] });
  const { record, events } = await agent.run("Sleep.", { budget: { wallMs: 300 } });
  expect(record.error?.code).toBe("time_limit");
  expect(ofType(events, "tool-ended")[0]).toMatchObject({ isError: true, text: expect.stringContaining("Stopped") });
});

test("the model is asked for an answer until it fits the schema, and the answer comes as data", async () => {
  await using agent = await agentForTest({
    script: [
      { text: "It is 42." },
      call("create_chat_completion", { response: { total: "many" } }),
      call("create_chat_completion", { response: { total: 42 } }),
    ],
  });
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const { record, events } = await agent.run("How many?", { outputSchema });
  expect(record).toMatchObject({ status: "completed", output: { data: { total: 42 } } });
  expect(ofType(events, "tool-ended").map(({ isError }) => isError)).toEqual([true, false]);
  expect(ofType(events, "artifact-added").at(-1)?.parts.at(-1)).toEqual({ type: "data", data: { total: 42 } });
});

test.each([
  { tool: terminate, named: 1 },
  { tool: echo, named: 0 },
])("a task with a schema speaks of terminate $named times if the agent has $tool.name", async ({ tool, named }) => {
  const answer = call("create_chat_completion", { response: { total: 42 } });
  await using agent = await agentForTest({ script: [{ text: "It is 42." }, answer], tools: [tool] });
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  expect((await agent.run("How many?", { outputSchema })).record.status).toBe("completed");
  const told = JSON.stringify(agent.model.requests.at(-1)?.body.messages);
  expect(told).toContain("Text alone does not end this task. Call a tool; call `create_chat_completion` when");
  expect(told.match(/terminate/g) ?? []).toHaveLength(named);
});

test("a task that waited, and whose schema is accepted no longer, fails and says why", async () => {
  await using agent = await agentForTest({ script: [] });
  const { record } = await agent.run("How many?", { outputSchema: { type: "string", pattern: "^(?=a)" } });
  const why = /^outputSchema: not a JSON Schema .*`\(\?=`$/;
  expect(record.error).toEqual({ code: "invalid_input", message: expect.stringMatching(why) });
});

test("the step limit ends the task with its name and what was reached", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: () => ({ text: `thought ${n}`, ...call("echo", { text: String(n++) }) }),
    tools: [echo],
    agent: { limits: { steps: 3 } },
  });
  const { record, events } = await agent.run("Never end.");
  expect(record).toMatchObject({ status: "failed", error: { code: "step_limit" } });
  expect(agent.model.requests).toHaveLength(3);
  expect(ofType(events, "artifact-added")).toMatchObject([{ name: "partial-answer", parts: [{ text: "thought 2" }] }]);
});

test("a caller's budget applies if it is tighter, not if it is looser", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: () => call("echo", { text: String(n++) }),
    tools: [echo],
    agent: { limits: { steps: 2 } },
  });
  expect((await agent.run("one", { budget: { steps: 1 } })).record.error?.message).toContain("after 1 turn,");
  expect((await agent.run("two", { budget: { steps: 9 } })).record.error?.message).toContain("after 2 turns");
});

test("the token limit is never exceeded: the model is not asked if its answer might exceed it", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: () => ({ ...call("echo", { text: String(n++) }), usage: { prompt_tokens: 900, completion_tokens: 100 } }),
    tools: [echo],
  });
  const { record, events } = await agent.run("Spend.", { budget: { tokens: 3_500 } });
  expect(record.error?.code).toBe("token_limit");
  const spent = ofType(events, "model-replied").reduce(
    (sum, { usage }) => sum + usage.inputTokens + usage.outputTokens,
    0,
  );
  expect(spent).toBeLessThanOrEqual(3_500);
});

test("an answer that broke off and was requested again counts towards the task's limits", async () => {
  const usage = { prompt_tokens: 2_000, completion_tokens: 10 };
  const called = { ...call("echo", { text: "once" }), usage };
  const done = { text: "Done.", usage };
  const outcome = async (...script: readonly ScriptedReply[]) => {
    await using agent = await agentForTest({ script, tools: [echo] });
    const { record } = await agent.run("word ".repeat(2_000), { budget: { tokens: 5_000 } });
    return record.error?.code ?? record.status;
  };
  expect(await outcome(called, done)).toBe("completed");
  expect(await outcome({ text: "Let me see.", cutAfter: 1 }, called, done)).toBe("token_limit");
});

test("the spending limit is never exceeded if the price is known", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: () => ({
      ...call("echo", { text: String(n++) }),
      usage: { prompt_tokens: 1_000, completion_tokens: 1_000 },
    }),
    tools: [echo],
    model: { price: { inputPerMillion: 10, outputPerMillion: 10 } },
  });
  const { record, events } = await agent.run("Spend.", { budget: { usd: 0.05 } });
  expect(record.error?.code).toBe("cost_limit");
  const spent = ofType(events, "model-replied").reduce((sum, { usage }) => sum + (usage.costUsd ?? 0), 0);
  expect(spent).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(0.05);
});

test("the prompt also names each image, so that tools can find it", async () => {
  await using agent = await agentForTest({
    script: [{ text: "A dot." }],
    model: { capabilities: { vision: true } },
  });
  const file = await agent.artifacts.put(new Uint8Array([1, 2, 3]), { name: "dot.png", mediaType: "image/png" });
  await agent.run("Look.", { parts: [{ type: "file", ...file }] });
  expect(agent.model.requests[0]?.body.messages.at(-1)?.content).toMatchObject([
    { text: "Look." },
    { text: "[file in the workspace: dot.png, image/png, 3 bytes]" },
    { type: "image_url" },
  ]);
});

test("an image uses as many of a task's tokens as the provider counts for it", async () => {
  await using agent = await agentForTest({
    script: () => ({ text: "Seen." }),
    model: { name: "gpt-4o", capabilities: { vision: true } },
  });
  for (const side of [512, 1_024]) {
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const png = await new Bun.Image(Buffer.from(pixel, "base64")).resize(side, side).png().bytes();
    const file = await agent.artifacts.put(png, { name: "a.png", mediaType: "image/png" });
    const parts = [{ type: "file" as const, ...file, name: `image-${side}.png` }];
    await agent.engine.start({
      kind: "tester",
      input: { message: { messageId: `m${side}`, parts }, hops: 0, budget: { tokens: 4_000 } },
      principal: "alice",
      contextId: `c${side}`,
    });
    for (const end = Date.now() + 60_000; agent.model.requests.length < side / 512 && Date.now() < end; )
      await Bun.sleep(5);
  }
  const [small = 0, large = 0] = agent.model.requests.map(({ body }) => Number(body.max_tokens));
  // Four tiles of 170 tokens instead of one, and the difference that the files' names and sizes in
  // bytes make.
  expect(small - large).toBeWithin(505, 516);
});

test("a spending limit that cannot be enforced without a price is reported at once", async () => {
  await using agent = await agentForTest({ script: [{ text: "Done." }, { text: "Done." }] });
  const { events } = await agent.run("Spend.", { budget: { usd: 0.05 } });
  expect(ofType(events, "notice-given")).toMatchObject([
    { kind: "budget", text: expect.stringContaining("the price of scripted is not known") },
  ]);
  expect(ofType((await agent.run("Spend.")).events, "notice-given")).toEqual([]);
});

test("repeating the same call brings a hint, then a firmer one, then ends the task as stuck", async () => {
  await using agent = await agentForTest({ script: () => call("echo", { text: "again" }), tools: [echo] });
  const { record, events } = await agent.run("Go round.");
  expect(record.error?.code).toBe("stuck");
  expect(agent.model.requests).toHaveLength(5);
  expect(ofType(events, "notice-given").map(({ kind }) => kind)).toEqual(["stuck", "stuck"]);
  const tails = agent.model.requests.map(({ body }) => JSON.stringify(body.messages.at(-1)));
  expect(tails[3]).toContain("Do something else");
  expect(tails[4]).toContain("going in circles");
});

test("a loop of two turns is noticed too", async () => {
  let n = 0;
  await using agent = await agentForTest({ script: () => call("echo", { text: `side ${n++ % 2}` }), tools: [echo] });
  expect((await agent.run("Swing.")).record.error?.code).toBe("stuck");
  expect(agent.model.requests.length).toBeLessThan(12);
});

test("each hint appears once at the end of the prompt and leaves the text before it unchanged", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: () => (n++ < 3 ? call("echo", { text: String(n) }) : { text: "end" }),
    tools: [echo],
    agent: { turnHint: ({ turn }) => `This is turn ${turn}.` },
  });
  await agent.run("Count.");
  const prompts = agent.model.requests.map(({ body }) => body.messages);
  prompts.forEach((messages, index) => {
    expect(JSON.stringify(messages.at(-1))).toContain(`This is turn ${index + 1}.`);
    const before = prompts[index - 1];
    if (before !== undefined) expect(messages.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  });
});

test("an unknown tool and broken arguments come back to the model as errors it can act on", async () => {
  await using agent = await agentForTest({
    script: [
      {
        calls: [
          { name: "fly", args: {} },
          { name: "echo", rawArguments: '{"text": "ha' },
          { name: "echo", args: { txt: 1 } },
        ],
      },
      { text: "ok" },
    ],
    tools: [echo],
  });
  const { record, events } = await agent.run("Try.");
  expect(record.status).toBe("completed");
  const results = ofType(events, "tool-ended");
  expect(results.every(({ isError }) => isError)).toBe(true);
  expect(results[0]?.text).toContain("The tools are: echo");
  expect(results[1]?.text).toContain("JSON");
  expect(results[2]?.text).toContain("text");
});

test("of 200 calls in one turn, as many as the limit allows are made, and the results of the others say so", async () => {
  const calls = Array.from({ length: 200 }, (_, n) => ({ name: "echo", args: { text: String(n) } }));
  await using agent = await agentForTest({ script: [{ calls }, { text: "ok" }], tools: [echo] });
  const { events } = await agent.run("Flood.");
  const results = ofType(events, "tool-ended");
  expect(results).toHaveLength(200);
  expect(results.filter(({ isError }) => !isError)).toHaveLength(16);
});

test("independent calls of one turn run at the same time, up to the limit", async () => {
  let running = 0;
  let most = 0;
  const slow = defineTool({
    name: "slow",
    description: "Takes a while.",
    input: z.strictObject({ n: z.int() }),
    effect: "pure",
    async run({ n }) {
      most = Math.max(most, ++running);
      await Bun.sleep(20);
      running--;
      return `slow ${n}`;
    },
  });
  const calls = Array.from({ length: 7 }, (_, n) => ({ name: "slow", args: { n } }));
  await using agent = await agentForTest({
    script: [{ calls }, { text: "ok" }],
    tools: [slow],
    agent: { limits: { parallelCalls: 3 } },
  });
  await agent.run("Hurry.");
  expect(most).toBe(3);
  const read = agent.model.requests[1]?.body.messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => content);
  expect(read).toEqual(calls.map(({ args }) => `slow ${args.n}`));
});

test("calls with an effect run in the order the model wrote them", async () => {
  const order: string[] = [];
  const act = defineTool({
    name: "act",
    description: "Does something.",
    input: z.strictObject({ name: z.string(), ms: z.int() }),
    effect: "once",
    async run({ name, ms }) {
      order.push(`${name} begins`);
      await Bun.sleep(ms);
      order.push(`${name} ends`);
      return name;
    },
  });
  await using agent = await agentForTest({
    script: [
      {
        calls: [
          { name: "act", args: { name: "a", ms: 20 } },
          { name: "act", args: { name: "b", ms: 1 } },
        ],
      },
      { text: "ok" },
    ],
    tools: [act],
  });
  await agent.run("In order.");
  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

test("a result beyond the limit goes to a file, and the model reads its head, its tail and the file's name", async () => {
  const long = defineTool({
    name: "long",
    description: "Says a lot.",
    input: z.strictObject({}),
    effect: "pure",
    run: async () => `HEAD${"x".repeat(50_000)}TAIL`,
  });
  await using agent = await agentForTest({ script: [call("long", {}), { text: "ok" }], tools: [long] });
  const { events } = await agent.run("Talk.");
  const [result] = ofType(events, "tool-ended");
  expect(result?.text.length).toBeLessThanOrEqual(12_000);
  const path = /whole is in (\S+)\]/.exec(result?.text ?? "")?.[1] ?? "";
  expect(await Bun.file(await agent.workspace.resolve(path)).text()).toHaveLength(50_008);
});

test("a question waits as input-required; the answer becomes the result of the call", async () => {
  await using agent = await agentForTest({
    script: [call("ask_human", { inquire: "Which year?" }), { text: "2026 it is." }],
    tools: [askHuman()],
  });
  const id = await agent.start("Plan.");
  expect((await agent.until(id, "waiting")).waiting).toEqual({ signal: "message", reason: "input-required" });
  await agent.say(id, "2026");
  await agent.until(id, "completed");
  expect(agent.model.requests[1]?.body.messages.at(-1)).toMatchObject({ role: "tool", content: "2026" });
  expect(agent.model.requests).toHaveLength(2);
});

test("a message sent to a running task is read before its next turn", async () => {
  const { tool, entered, leave } = gateForTest();
  await using agent = await agentForTest({ script: [call("gate", {}), { text: "ok" }], tools: [tool] });
  const id = await agent.start("Wait.");
  await entered;
  await agent.say(id, "And be brief.");
  leave();
  await agent.until(id, "completed");
  expect(agent.model.requests[1]?.body.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "user",
  ]);
  expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain("And be brief.");
});

test("a call that needs approval waits for the code of that exact call", async () => {
  const made: string[] = [];
  const act = defineTool({
    name: "act",
    description: "Does something.",
    input: z.strictObject({ what: z.string() }),
    effect: "once",
    run: async ({ what }) => {
      made.push(what);
      return "done";
    },
  });
  await using agent = await agentForTest({
    script: [call("act", { what: "one" }), call("act", { what: "two" }), { text: "ok" }],
    tools: [act],
    approval: ({ name }) => (name === "act" ? "ask" : "allow"),
  });
  const id = await agent.start("Act twice.");
  await agent.until(id, "waiting");
  const [first] = ofType(await agent.events(id), "question-asked");
  expect(first?.question).toContain('act {"what":"one"}');
  const yes = /"(yes \w+)"/.exec(first?.question ?? "")?.[1] ?? "";
  await agent.say(id, yes);
  while (ofType(await agent.events(id), "question-asked").length < 2) await Bun.sleep(5);
  await agent.until(id, "waiting");
  await agent.say(id, yes);
  await agent.until(id, "completed");
  expect(made).toEqual(["one"]);
  expect(ofType(await agent.events(id), "tool-ended")[1]?.text).toContain("not allowed");
});

test("a later task of the same conversation knows what was said and done before", async () => {
  await using agent = await agentForTest({
    script: [call("echo", { text: "blue" }), { text: "It is blue." }, { text: "Blue, as I said." }],
    tools: [echo],
  });
  await agent.run("Which colour?");
  const { events } = await agent.run("Say it again.");
  expect(ofType(events, "step-started").map(({ step }) => step)).toEqual([1]);
  const texts = agent.model.requests[2]?.body.messages.map(({ role, content }) => [role, content]);
  expect(texts?.slice(1)).toEqual([
    ["user", "Which colour?"],
    ["assistant", null],
    ["tool", "blue"],
    ["assistant", "It is blue."],
    ["user", "Say it again."],
  ]);
});

test("a file sent with the task is in the workspace, and files the task made come back as artifacts before the answer", async () => {
  const make = defineTool({
    name: "make",
    description: "Writes a file.",
    input: z.strictObject({}),
    effect: "once",
    async run(_, { workspace }) {
      const sent = await Bun.file(await workspace.resolve("in.txt")).text();
      await saveFile(workspace, "out/result.txt", new TextEncoder().encode(sent.toUpperCase()));
      return "made";
    },
  });
  await using agent = await agentForTest({ script: [call("make", {}), { text: "Made it." }], tools: [make] });
  const file = await agent.artifacts.put(new TextEncoder().encode("hello"), { name: "in.txt" });
  const { events } = await agent.run("Upper case.", { parts: [{ type: "file", ...file }] });
  const artifacts = ofType(events, "artifact-added");
  expect(artifacts.map(({ name }) => name)).toEqual(["out/result.txt", "answer"]);
  const [part] = artifacts[0]?.parts ?? [];
  const content = part?.type === "file" ? await (await agent.artifacts.get(part.sha256))?.text() : undefined;
  expect(content).toBe("HELLO");
});

test("cancel aborts the model call at its provider and ends the task as canceled", async () => {
  await using agent = await agentForTest({ script: [{ text: "never ending story", stallAfter: 1 }] });
  const id = await agent.start("Go.");
  while (agent.model.requests.length === 0) await Bun.sleep(5);
  await agent.engine.cancel(id);
  expect((await agent.until(id, "canceled")).status).toBe("canceled");
  while (agent.model.requests[0]?.state === "open") await Bun.sleep(5);
  expect(agent.model.requests[0]?.state).toBe("dropped");
});

test("a prompt near the model's window is compacted once: the goal and the newest turns stay, a summary replaces the rest", async () => {
  let n = 0;
  const filler = "lorem ipsum dolor sit amet ".repeat(80);
  await using agent = await agentForTest({
    script: (request) => {
      if (JSON.stringify(request.messages[0]).includes("working memory")) return { text: "SUMMARY: counted so far." };
      return n++ < 12 ? call("echo", { text: `${n} ${filler}` }) : { text: "end" };
    },
    tools: [echo],
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 500 } },
  });
  const { record, events } = await agent.run("THE GOAL");
  expect(record.status).toBe("completed");
  expect(ofType(events, "context-compacted").length).toBeGreaterThan(0);
  const last = agent.model.requests.at(-1)?.body.messages ?? [];
  const text = JSON.stringify(last);
  expect(text).toContain("THE GOAL");
  expect(text).toContain("SUMMARY: counted so far.");
  const asked = last.flatMap((message) => message.tool_calls ?? []).map(({ id }) => id);
  expect(last.filter(({ role }) => role === "tool").map((message) => message.tool_call_id)).toEqual(asked);
  const notes = ofType(events, "context-compacted").length;
  expect(notes).toBeLessThan(6);
});

test("a provider that says the prompt is too long is answered with a compaction, not with a failure", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: (request) => {
      if (JSON.stringify(request.messages[0]).includes("working memory")) return { text: "SUMMARY" };
      n++;
      if (n <= 3) return call("echo", { text: `${n}` });
      if (n === 4)
        return { status: 400, error: { message: "maximum context length exceeded", code: "context_length_exceeded" } };
      return { text: "end" };
    },
    tools: [echo],
  });
  const { record, events } = await agent.run("Go on.");
  expect(record.status).toBe("completed");
  expect(ofType(events, "context-compacted")).toHaveLength(1);
});

test("an answer cut off at the output limit is asked for again, shorter", async () => {
  await using agent = await agentForTest({
    script: [{ text: "an answer that is cut o", finish: "length" }, { text: "short" }],
  });
  const { record, events } = await agent.run("Tell all.");
  expect(record.output).toMatchObject({ answer: "short" });
  expect(ofType(events, "notice-given")).toMatchObject([{ kind: "truncated" }]);
  expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain("cut off");
});

test("a call's arguments are shown as the model writes them, and the call is made when they are complete", async () => {
  const text = "a long text that comes in pieces";
  await using agent = await agentForTest({
    script: [{ ...call("echo", { text }), deltaDelayMs: 20 }, { text: "done" }],
    tools: [echo],
  });
  const id = await agent.start("Say it.");
  const pieces: unknown[] = [];
  for await (const item of agent.engine.follow(id, { signal: AbortSignal.timeout(60_000) }))
    if (item.kind === "progress" && item.event.type === "tool-call-delta") pieces.push(item.event);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces[0]).toMatchObject({ index: 0, name: "echo" });
  expect(ofType(await agent.events(id), "tool-ended")).toMatchObject([{ text }]);
});

test("an empty answer ends nothing: the model is informed and asked again", async () => {
  await using agent = await agentForTest({ script: [{ text: " " }, { text: "Four." }] });
  const { record } = await agent.run("What is two and two?");
  expect(record.output).toMatchObject({ answer: "Four." });
  expect(JSON.stringify(agent.model.requests[1]?.body.messages.at(-1))).toContain("Your last message was empty");
});

test("with toolChoice required, text alone does not end the task", async () => {
  await using agent = await agentForTest({
    script: [{ text: "I think…" }, call("terminate", { status: "success", summary: "done" })],
    tools: [terminate],
    agent: { toolChoice: "required" },
  });
  const { record } = await agent.run("Use a tool.");
  expect(record.output).toMatchObject({ answer: "done" });
});

test("a model that refuses the request fails the task with the provider's reason", async () => {
  await using agent = await agentForTest({
    script: [{ status: 401, error: { message: "Incorrect API key provided" } }],
  });
  const { record } = await agent.run("Hello.");
  expect(record).toMatchObject({ status: "failed", error: { code: "model_rejected" } });
  expect(record.error?.message).toContain("Incorrect API key");
});

test("an image is shown for five turns, and is in no prompt after them", async () => {
  const look = defineTool({
    name: "look",
    description: "Shows a picture.",
    input: z.strictObject({ page: z.int() }),
    effect: "pure",
    run: async ({ page }) => ({
      text: `Page ${page}.`,
      isError: false,
      ...(page === 0 && { images: [{ type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const] }),
    }),
  });
  await using agent = await agentForTest({
    script: [0, 1, 2, 3, 4, 5].map((page): object => call("look", { page })).concat({ text: "ok" }),
    tools: [look],
    model: { capabilities: { vision: true } },
  });
  await agent.run("Look.");
  const shown = agent.model.requests.map(({ body }) => JSON.stringify(body.messages).includes("data:image/png;base64"));
  expect(shown).toEqual([false, true, true, true, true, true, false]);
});

test("for a model that takes only text, the prompt says that an image is not shown", async () => {
  const look = defineTool({
    name: "look",
    description: "Shows a picture.",
    input: z.strictObject({}),
    effect: "pure",
    run: async () => ({
      text: "Here it is.",
      isError: false,
      images: [{ type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const],
    }),
  });
  for (const vision of [true, false]) {
    await using agent = await agentForTest({
      script: [call("look", {}), { text: "ok" }],
      tools: [look],
      model: { capabilities: { vision } },
    });
    await agent.run("Look.");
    const said = JSON.stringify(agent.model.requests[1]?.body.messages);
    expect(said.includes("takes text only")).toBe(!vision);
    expect(said.includes("data:image/png;base64")).toBe(vision);
  }
});

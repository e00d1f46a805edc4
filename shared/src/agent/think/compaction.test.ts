import { expect, test } from "bun:test";
import * as z from "zod";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import { type ChatRequest, chatText } from "../../models/chat/chat-protocol.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { gateForTest } from "../../testing/agent/gate-tool.ts";
import { createStrReplaceEditor } from "../../tools/files/str-replace-editor.ts";
import { askHuman } from "../../tools/human/ask-human.ts";
import { projectMessages } from "../earlier.ts";

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});
const filler = "lorem ipsum dolor sit amet ".repeat(80);
const isSummary = (request: ChatRequest) => JSON.stringify(request.messages[0]).includes("working memory");
const small = { capabilities: { contextWindow: 8_000, maxOutputTokens: 4_000 } };

/** Echoes so many long texts, then answers. */
function talker(turns: number, summary: object = { text: "SUMMARY" }) {
  let n = 0;
  return (request: ChatRequest) => {
    if (isSummary(request)) return summary;
    return n++ < turns
      ? { calls: [{ name: "echo", args: { text: `${n} ${filler}` } }] }
      : { text: "the end of it", deltaDelayMs: 5 };
  };
}

for (const tokens of [24_500, 25_500, 26_500, 27_500]) {
  test(`all calls together, summaries included, stay within ${tokens} tokens`, async () => {
    const script = talker(12);
    let spent = 0;
    await using agent = await agentForTest({
      script: (request) => {
        const usage = {
          prompt_tokens: Math.ceil(JSON.stringify(request).length / 6),
          completion_tokens: Math.min(400, Number(request.max_tokens ?? 400)),
        };
        spent += usage.prompt_tokens + usage.completion_tokens;
        return { ...script(request), usage };
      },
      tools: [echo],
      model: small,
    });
    const { record } = await agent.run("Go on.", { budget: { tokens } });
    expect(record.error?.code).toBe("token_limit");
    expect(spent).toBeGreaterThan(tokens / 2);
    expect(spent).toBeLessThanOrEqual(tokens);
  });
}

test("if little of the window is left for messages, a compaction makes room for several turns, and no summary is summarized alone", async () => {
  const script = talker(12);
  await using agent = await agentForTest({
    script,
    agent: { instructions: "Be good. ".repeat(1_300) },
    tools: [echo],
    model: small,
  });
  await agent.run("Go on.");
  const summaries = agent.model.requests.filter(({ body }) => isSummary(body));
  expect(summaries.length).toBeGreaterThan(1);
  expect(summaries.length).toBeLessThan(8);
  for (const { body } of summaries) {
    expect(JSON.stringify(body.messages[1])).toContain("RESULT of echo");
    const headings = String(body.messages[0]?.content).match(/^\w+(?=: )/gm);
    expect(headings).toEqual(["Constraints", "Done", "Found", "Files", "Failed", "Left"]);
  }
});

test("the prompt's fixed part counts towards the limit", async () => {
  await using agent = await agentForTest({
    script: [{ text: "hi" }],
    agent: { instructions: "Be good. ".repeat(3_000) },
  });
  const { record } = await agent.run("Hello.", { budget: { tokens: 2_000 } });
  expect(record.error?.code).toBe("token_limit");
  expect(agent.model.requests).toHaveLength(0);
});

test("an agent whose instructions leave no room for work fails before it asks", async () => {
  const codeIn = async (contextWindow: number) => {
    await using agent = await agentForTest({
      script: [{ text: "hi" }],
      agent: { instructions: "Be good. ".repeat(1_000) },
      model: { capabilities: { contextWindow } },
    });
    const { record } = await agent.run("Hello.");
    return [record.error?.code, agent.model.requests.length];
  };
  // They take about 3,000 tokens.
  expect(await codeIn(4_000)).toEqual(["context_overflow", 0]);
  expect(await codeIn(6_000)).toEqual([undefined, 1]);
});

test("reasoning tokens are not part of the next prompt", async () => {
  const script = talker(4);
  await using agent = await agentForTest({
    script: (request, n) => ({ ...script(request), usage: { prompt_tokens: 1_000 * n, completion_tokens: 6_000 } }),
    tools: [echo],
    model: small,
  });
  const { events } = await agent.run("Think.");
  expect(events.some(({ type }) => type === "context-compacted")).toBe(false);
});

test("an answer may not be longer than the rest of the window", async () => {
  await using agent = await agentForTest({
    script: [
      { calls: [{ name: "echo", args: { text: "a" } }], usage: { prompt_tokens: 5_000, completion_tokens: 10 } },
      { text: "end" },
    ],
    tools: [echo],
    model: small,
  });
  await agent.run("Go.");
  expect(agent.model.requests[0]?.body.max_tokens).toBe(4_000);
  expect(agent.model.requests[1]?.body.max_tokens).toBeLessThan(3_000);
});

test("watchers see the agent's own words, not the summary being written", async () => {
  await using agent = await agentForTest({
    script: talker(9, { text: "the secret summary" }),
    tools: [echo],
    model: small,
  });
  const id = await agent.start("Go on.");
  const shown: string[] = [];
  for await (const item of agent.engine.follow(id, { signal: AbortSignal.timeout(60_000) })) {
    if (item.kind === "progress") shown.push(JSON.stringify(item.event));
  }
  expect((await agent.events(id)).some(({ type }) => type === "context-compacted")).toBe(true);
  expect(shown.join()).not.toContain("secret");
  expect(shown.join()).toContain("end");
});

test("the user's messages stay even if no model can summarize", async () => {
  const { tool, entered, leave } = gateForTest();
  const script = talker(9, { status: 400, error: { message: "no" } });
  await using agent = await agentForTest({
    script: (request, n) => (n === 0 ? { calls: [{ name: "gate", args: {} }] } : script(request)),
    tools: [echo, tool],
    model: small,
  });
  const id = await agent.start("Go on.");
  await entered;
  await agent.say(id, "Mind the STEPS.");
  leave();
  await agent.until(id, "completed");
  const events = await agent.events(id);
  expect(events.some(({ type }) => type === "context-compacted")).toBe(true);
  expect(JSON.stringify(agent.model.requests.at(-1)?.body.messages)).toContain("Mind the STEPS.");
});

test("an answer that a content filter stopped does not count as an answer", async () => {
  await using agent = await agentForTest({
    script: [{ text: "The recipe begins with", finish: "content_filter" }, { text: "I cannot say." }],
  });
  const { record, events } = await agent.run("Tell.");
  expect(record.output).toEqual({ answer: "I cannot say." });
  expect(events.some((event) => event.type === "notice-given" && event.kind === "truncated")).toBe(true);
});

test("every message of the user stays word for word, in the prompt and in what is summarized, in the next task too", async () => {
  const { tool, entered, leave } = gateForTest();
  const script = talker(9);
  await using agent = await agentForTest({
    script: (request, n) => (n === 0 ? { calls: [{ name: "gate", args: {} }] } : script(request)),
    tools: [echo, tool],
    model: small,
  });
  const id = await agent.start("Write the report in French, two pages.");
  await entered;
  await agent.say(id, "And never name the client.");
  leave();
  await agent.until(id, "completed");
  const summaries = agent.model.requests.filter(({ body }) => isSummary(body));
  expect(summaries.length).toBeGreaterThan(0);
  const both = ["Write the report in French, two pages.", "And never name the client."];
  for (const { body } of summaries)
    for (const words of both) expect(JSON.stringify(body.messages[1])).toContain(`USER: ${words}`);
  const said = () =>
    agent.model.requests
      .at(-1)
      ?.body.messages.filter(({ role }) => role === "user")
      .map(chatText)
      .filter((text) => !text.startsWith("Summary"));
  expect(said()).toEqual(both);
  await agent.run("Now in English.");
  expect(said()).toEqual([...both, "Now in English."]);
});

test("the user's answer stays with its question", async () => {
  const script = talker(9);
  await using agent = await agentForTest({
    script: (request, n) =>
      n === 0 ? { text: "Hm.", calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] } : script(request),
    tools: [echo, askHuman()],
    model: small,
  });
  const id = await agent.start("Go on.");
  await agent.until(id, "waiting");
  await agent.say(id, "The year 1987.");
  await agent.until(id, "completed");
  expect((await agent.events(id)).some(({ type }) => type === "context-compacted")).toBe(true);
  const last = agent.model.requests.at(-1)?.body.messages ?? [];
  const at = last.findIndex((message) => message.role === "tool" && chatText(message).includes("The year 1987."));
  expect(JSON.stringify(last[at - 1]?.tool_calls)).toContain("Which year?");
});

test("if the user's messages do not fit, the oldest are summarized and kept in full in a file", async () => {
  await using agent = await agentForTest({ script: talker(4), tools: [echo], model: small });
  const long = (n: number) => `Wish ${n}: ${"I want this and that, and not the other. ".repeat(60)}`;
  for (let n = 0; n < 12; n++) await agent.run(long(n));
  const events = (await agent.engine.list({ limit: 100 })).runs.map(({ id }) => agent.events(id));
  const compactions = (await Promise.all(events)).flat().filter((event) => event.type === "context-compacted");
  const [path] =
    /\.manyhands\/output\/\d+-message\.txt/.exec(compactions.map(({ summary }) => summary).join("\n")) ?? [];
  expect(await Bun.file(`${agent.workspace.root}/${path}`).text()).toMatch(/^USER: Wish \d+: .*the other\. $/s);
});

test("a result cut for the summary names the file that has it in full, and the file does", async () => {
  const results = Array.from(
    { length: 9 },
    (_, n) => `result ${n} begins ${"x y z ".repeat(900)} KEY-${n} ${"u v w ".repeat(400)} end`,
  );
  let n = 0;
  await using agent = await agentForTest({
    script: (request) => {
      if (isSummary(request)) return { text: "SUMMARY without any file" };
      const text = results[n++];
      return text === undefined ? { text: "end" } : { calls: [{ name: "echo", args: { text } }] };
    },
    tools: [echo],
    model: small,
    agent: { limits: { resultCharacters: 7_000 } },
  });
  const { events } = await agent.run("Go on.");
  const summaries = events.filter((event) => event.type === "context-compacted").map(({ summary }) => summary);
  expect(summaries.length).toBeGreaterThan(1);
  const named = [...(summaries.at(-1) ?? "").matchAll(/^- (\.manyhands\/output\/\S+): RESULT of echo: result (\d)/gm)];
  // Those of the first compaction are named by the last too.
  expect(named.map(([, , at]) => at)).toContain("0");
  for (const [, path, at] of named) {
    const whole = await Bun.file(`${agent.workspace.root}/${path}`).text();
    expect(whole).toBe(results[Number(at)] ?? "");
  }
  const prompt = JSON.stringify(agent.model.requests.find(({ body }) => isSummary(body))?.body.messages[1]);
  for (const [, path] of named.slice(0, 1)) expect(prompt).toContain(`the whole is in ${path}`);
});

test("a viewed file is named itself, once, however often it was viewed", async () => {
  const view = (path: string, to: number) => ({
    calls: [{ name: "str_replace_editor", args: { command: "view", path, view_range: [1, to] } }],
  });
  const create = (path: string) => ({
    calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: "a line of it\n".repeat(300) } }],
  });
  // A view keeps to the room of a result: with what else comes it is too long for the summary.
  const other = (at: number) => ({ calls: [{ name: "echo", args: { text: `${at} ${"x".repeat(3_200)}` } }] });
  const turns = [create("a.md"), ...Array.from({ length: 9 }, (_, at) => [other(at), view("a.md", 290 + at)]).flat()];
  let n = 0;
  await using agent = await agentForTest({
    script: (request) => (isSummary(request) ? { text: "SUMMARY" } : (turns[n++] ?? { text: "end" })),
    tools: [echo, createStrReplaceEditor(createKeyedQueue())],
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 1_000 } },
    agent: { limits: { resultCharacters: 7_000 } },
  });
  const { events } = await agent.run("Go on.");
  const summaries = events.filter((event) => event.type === "context-compacted").map(({ summary }) => summary);
  expect(summaries.length).toBeGreaterThan(1);
  const named = (summaries.at(-1) ?? "").split("\n").filter((line) => line.startsWith("- a.md"));
  expect(named).toEqual(["- a.md: as it is now"]);
});

test("a summary, however long, is summarized again as a whole; if no model can summarize, it is kept in full", async () => {
  const facts = Array.from({ length: 90 }, (_, n) => `FACT-${n} was found on page ${n * 7}.`);
  for (const later of [{ text: "SUMMARY" }, { status: 400, error: { message: "no" } }]) {
    const script = talker(30);
    let asked = 0;
    await using agent = await agentForTest({
      script: (request) => {
        if (!isSummary(request)) return script(request);
        return asked++ === 0 ? { text: facts.join("\n") } : later;
      },
      tools: [echo],
      model: small,
    });
    const { events } = await agent.run("Go on.");
    const second = agent.model.requests.filter(({ body }) => isSummary(body))[1];
    const prompt = JSON.stringify(second?.body.messages[1]);
    expect(facts.filter((fact) => !prompt.includes(fact))).toEqual([]);
    const [, summary] = events.filter((event) => event.type === "context-compacted").map((event) => event.summary);
    if (!("text" in later)) expect(facts.filter((fact) => summary?.includes(fact) !== true)).toEqual([]);
  }
});

test("a compaction never cuts between a call and its results", async () => {
  let n = 0;
  await using agent = await agentForTest({
    script: (request) => {
      if (isSummary(request)) return { text: "SUMMARY" };
      if (n++ >= 12) return { text: "end" };
      const calls = [40, 400, 4_000].map((length) => ({
        name: "echo",
        args: { text: `${n} ${"ab ".repeat(length / 3)}` },
      }));
      return { calls };
    },
    tools: [echo],
    model: small,
  });
  const { events } = await agent.run("Go on.");
  expect(events.filter(({ type }) => type === "context-compacted").length).toBeGreaterThan(2);
  for (const [at, event] of events.entries()) {
    if (event.type !== "context-compacted") continue;
    const messages = projectMessages([], events.slice(0, at + 1));
    const newest = messages.slice(messages.findIndex(({ role }) => role === "summary") + 1);
    expect(newest.length).toBe(event.kept);
    const calls = newest.flatMap((message) =>
      message.role === "assistant" ? message.toolCalls.map(({ id }) => id) : [],
    );
    const answered = newest.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    expect(answered.toSorted()).toEqual(calls.toSorted());
  }
});

test("a task whose time runs out while a summary is written ends as time_limit", async () => {
  await using agent = await agentForTest({
    script: talker(12, { text: "SUMMARY", delayMs: 60_000 }),
    tools: [echo],
    model: small,
  });
  const { record } = await agent.run("Go on.", { budget: { wallMs: 2_000 } });
  expect(record.error?.code).toBe("time_limit");
});

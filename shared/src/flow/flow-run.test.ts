import { expect, test } from "bun:test";
import * as z from "zod";
import type { AppError } from "../core/errors.ts";
import type { ReadEvent } from "../core/events/events.ts";
import { defineFlow, type Flow, type FlowResult } from "../core/flow.ts";
import type { AgentInput, AgentOutput } from "../core/runs/task.ts";
import type { ChatRequest } from "../models/chat/chat-protocol.ts";
import { flowEvents, flowForTest } from "../testing/flow.ts";

/** A flow whose body is given. */
const flowOf = (perform: (flow: Flow) => Promise<FlowResult>) =>
  defineFlow({
    name: "tried",
    title: "Tried",
    description: "For a test.",
    version: "1.0.0",
    skills: [],
    options: z.strictObject({}),
    example: { text: "Try" },
    perform,
  });
const asking = (agent: string) =>
  flowOf(async (flow) => ({ answer: (await flow.ask(agent, { text: flow.goal })).answer }));
const say = (text: string) => () => ({ text });
const ofType = <Type extends ReadEvent["type"]>(events: readonly ReadEvent[], type: Type) =>
  events.filter((event): event is Extract<ReadEvent, { type: Type }> => event.type === type);
const usage = { prompt_tokens: 40, completion_tokens: 10 };

test("an agent can be chosen by its skill, and the event gives the reason", async () => {
  const skill = { id: "charts", name: "Draw charts", description: "Bars and lines", tags: ["plot"], examples: [] };
  await using flow = await flowForTest(asking("skill: plot some bars"), {
    agents: { other: say("no"), painter: say("drawn") },
    entries: { painter: { skills: [skill] } },
  });
  const { answer, events } = await flow.run({ text: "Draw" });
  expect(answer).toBe("drawn");
  expect(flowEvents(events, "agent-chosen")).toEqual([
    {
      wanted: "skill: plot some bars",
      agent: "painter",
      reason: `painter's skill "Draw charts" fits best: plot, bars.`,
      note: `painter's skill "Draw charts" fits best: plot, bars.`,
    },
  ]);
});

test("an unknown agent is refused with the list of agents, even if the caller chose it", async () => {
  await using flow = await flowForTest(asking("skill:cooking"), { agents: { one: say("1") } });
  const message = 'No agent has a skill like "cooking"; there are: one.';
  expect((await flow.run({ text: "Cook" })).record.error).toEqual({ code: "invalid_input", message });
  const chosen = await flow.run({ text: "Cook", agents: ["cook"] });
  expect(chosen.record.error).toEqual({ code: "invalid_input", message: 'There is no agent "cook"; there are: one.' });
});

test("the budget is divided among the coming asks, agents' usage is counted, and a limit that is reached keeps the results so far", async () => {
  const twice = flowOf(async (flow) => {
    flow.expect(2);
    flow.reached((await flow.ask("one", { text: "a" })).answer);
    flow.reached((await flow.ask("one", { text: "b" })).answer);
    return { answer: (await flow.ask("one", { text: "c" })).answer };
  });
  await using flow = await flowForTest(twice, { agents: { one: (_, n) => ({ text: `reply ${n}`, usage }) } });
  const { record, events } = await flow.run({ text: "Go", budget: { tokens: 100_000 } });
  expect(record.status).toBe("completed");
  const budgets = (await flow.agent("one").tasks()).map(({ input }) => (input as { budget: object }).budget);
  expect(budgets.reverse()).toMatchObject([{ tokens: 50_000 }, { tokens: 99_950 }, { tokens: 99_900 }]);
  expect(ofType(events, "agent-answered").map((event) => event.usage?.tokens)).toEqual([50, 50, 50]);

  await using small = await flowForTest(twice, {
    agents: { one: (_, n) => ({ text: `reply ${n}`, usage }) },
    limits: { tokens: 10_000, usd: 1, wallMs: 50_000 },
  });
  await small.run({ text: "Go", budget: { tokens: 100_000, usd: 9, wallMs: 90_000 } });
  const own = ((await small.agent("one").tasks()).at(-1)?.input as AgentInput | undefined)?.budget;
  expect(own).toMatchObject({ tokens: 5_000, usd: 0.5 });
  expect(own?.wallMs).toBeWithin(1, 50_001);

  const limited = await flow.run({ text: "Go", budget: { tokens: 3000 } });
  expect(limited.record.status).toBe("completed");
  const short = await flow.run({ text: "Go", budget: { wallMs: 1 } });
  expect(short.record.error?.code).toBe("time_limit");
});

test("an agent that waits longer than the flow's time is abandoned, whatever its own deadline", async () => {
  const patient = flowOf(async (flow) => {
    const { state, error } = await flow.ask("one", { text: "Go" }, { deadlineMs: 600_000 });
    return { answer: `${state}: ${error?.code}` };
  });
  const asks = { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] };
  await using flow = await flowForTest(patient, { agents: { one: [asks] } });
  // Nobody answers: time spent waiting for a person does not count against the agent's budget.
  const { answer } = await flow.run({ text: "Go", budget: { wallMs: 2_000 } });
  expect(answer).toBe("timed-out: time_limit");
});

test("too many asks end the flow with the limit's name and the results so far", async () => {
  const endless = flowOf(async (flow) => {
    for (;;) flow.reached((await flow.ask("one", { text: "again" })).answer);
  });
  await using flow = await flowForTest(endless, {
    agents: { one: (_, n) => ({ text: `reply ${n}` }) },
    limits: { asks: 2 },
  });
  const { record, events } = await flow.run({ text: "Go" });
  expect(record.error).toEqual({ code: "step_limit", message: "This flow's bound of 2 asks of agents is reached." });
  expect(ofType(events, "artifact-added").at(-1)).toMatchObject({
    name: "partial-answer",
    parts: [{ type: "text", text: "reply 1" }],
    // What it rests on counts for whoever reads it.
    takenIn: expect.arrayContaining(["web"]),
  });
});

test("the model decides in a schema, and corrects an answer that does not fit", async () => {
  const deciding = flowOf(async (flow) => {
    const { region } = await flow.decide({
      name: "name_region",
      description: "Names the region.",
      instructions: "Name it.",
      text: flow.goal,
      schema: z.strictObject({ region: z.string() }),
      check: ({ region }) => (region === "north" ? undefined : `${region} is no region`),
    });
    return { answer: region };
  });
  const call = (...given: object[]) => ({ calls: given.map((args) => ({ name: "name_region", args })), usage });
  const script = [call({ place: 1 }, { place: 2 }), call({ region: "west" }), call({ region: "north" })];
  await using flow = await flowForTest(deciding, { agents: { one: say("") }, model: script });
  const { answer, events } = await flow.run({ text: "Which?" });
  expect(answer).toBe("north");
  expect(ofType(events, "model-replied")).toHaveLength(3);
  const told = JSON.stringify(flow.model.requests[2]?.body);
  expect(told).toContain("west is no region");
  // Providers refuse a conversation with a call that has no result.
  const messages = flow.model.requests[1]?.body.messages ?? [];
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
  const asked = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  expect(asked).toHaveLength(2);
  expect(results).toEqual(asked.map(({ id }) => id));
  expect(flow.model.requests[0]?.body).toMatchObject({ tool_choice: { function: { name: "name_region" } } });

  await using other = await flowForTest(deciding, { agents: { one: say("") }, model: () => ({ text: "the north" }) });
  const { record } = await other.run({ text: "Which?" });
  expect(record.error).toMatchObject({ code: "task_failed", message: expect.stringContaining("It said: the north") });
  expect(other.model.requests).toHaveLength(3);
});

test("a model that makes no calls is held to the schema of a decision where its server can", async () => {
  const deciding = flowOf(async (flow) => {
    const decision = { name: "name_region", description: "Names the region.", instructions: "Name it." };
    const { region } = await flow.decide({
      ...decision,
      text: flow.goal,
      schema: z.strictObject({ region: z.string() }),
    });
    return { answer: region };
  });
  /** As Ollama's: it ignores which call is demanded, and keeps to a form. */
  const server = ({ response_format: form }: ChatRequest) => ({
    text: form === undefined ? "It is the north, I think." : '{"region":"north"}',
    usage,
  });
  await using flow = await flowForTest(deciding, { agents: { one: say("") }, model: server });
  expect((await flow.run({ text: "Which?" })).answer).toBe("north");
  const [first, second, ...more] = flow.model.requests.map(({ body }) => body);
  expect(more).toEqual([]);
  expect(first?.response_format).toBeUndefined();
  expect(second?.tools).toBeUndefined();
  expect(second?.response_format).toMatchObject({
    type: "json_schema",
    json_schema: { schema: { properties: { region: { type: "string" } }, required: ["region"] } },
  });

  // A server that knows no form says so, and is asked in words alone.
  const plain = (request: ChatRequest) => {
    if (request.response_format !== undefined)
      return { status: 400, error: { message: "response_format json_schema is not supported" } };
    return {
      text: JSON.stringify(request.messages).includes("one JSON object")
        ? '```json\n{"region":"south"}\n```'
        : "South.",
      usage,
    };
  };
  await using other = await flowForTest(deciding, { agents: { one: say("") }, model: plain });
  expect((await other.run({ text: "Which?" })).answer).toBe("south");
});

/** A flow that asks one agent and reports the outcome. */
const telling = flowOf(async (flow) => {
  const { state, answer, error } = await flow.ask("one", { text: "Go" });
  return { answer: `${state} ${state === "completed" ? answer : error?.code}` };
});

test("after a failure that may pass the agent is asked once more; any other failure is an outcome", async () => {
  const down = { status: 503 };
  for (const [script, answer] of [
    [[down, { text: "up" }], "completed up"],
    [[down, down, { text: "up" }], "failed model_unavailable"],
  ] as const) {
    await using flow = await flowForTest(telling, { agents: { one: script } });
    expect((await flow.run({ text: "Go" })).answer).toBe(answer);
    const asked = (await flow.agent("one").tasks()).map(({ createdAt }) => createdAt);
    expect(asked).toHaveLength(2);
    // The failure gets a moment to pass.
    expect(Math.max(...asked) - Math.min(...asked)).toBeGreaterThanOrEqual(1_000);
  }
  await using refused = await flowForTest(telling, { agents: { one: [{ status: 400 }] } });
  expect((await refused.run({ text: "Go" })).answer).toBe("failed model_rejected");
  expect(await refused.agent("one").tasks()).toHaveLength(1);
});

test("an agent that stayed unreachable for the whole wait is not asked again", async () => {
  const door = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null, { status: 503 }) });
  try {
    const entries = { one: { url: door.url.origin } };
    await using flow = await flowForTest(telling, { agents: { one: say("not asked") }, entries });
    const { answer, events } = await flow.run({ text: "Go" });
    expect(answer).toBe("failed unavailable");
    expect(ofType(events, "agent-answered")).toHaveLength(1);
  } finally {
    await door.stop(true);
  }
});

test("a spending limit that cannot be enforced is reported as none", async () => {
  await using flow = await flowForTest(asking("one"), { agents: { one: say("1") }, price: false });
  const notices = async (usd?: number) =>
    ofType((await flow.run({ text: "Go", ...(usd !== undefined && { budget: { usd } }) })).events, "notice-given");
  expect(await notices(1)).toMatchObject([
    { kind: "budget", text: expect.stringContaining("The spending limit of $1 cannot be enforced") },
  ]);
  expect(await notices()).toEqual([]);
});

test("the flow asks an agent's question, and the answer goes to the agent", async () => {
  const asks = [{ calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] }, { text: "2025 it is" }];
  await using flow = await flowForTest(asking("one"), { agents: { one: asks } });
  const id = await flow.start({ text: "Go" });
  expect(await flow.event(id, "question-asked")).toMatchObject({ question: expect.stringContaining("Which year?") });
  await flow.say(id, "2025");
  const record = await flow.until(id, "completed");
  expect(record.output).toEqual({ answer: "2025 it is" });
});

test("a canceled flow cancels the tasks it gave to agents", async () => {
  await using flow = await flowForTest(asking("one"), { agents: { one: () => ({ text: "late", delayMs: 20_000 }) } });
  const id = await flow.start({ text: "Go" });
  await flow.event(id, "agent-accepted");
  await flow.engine.cancel(id);
  await flow.until(id, "canceled");
  const [task] = await flow.agent("one").tasks();
  for (let n = 0; n < 400; n++) {
    if ((await flow.agent("one").engine.get(task?.id ?? ""))?.status === "canceled") return;
    await Bun.sleep(10);
  }
  throw new Error("the agent still works");
});

test("no more branches than allowed run at once, and one that fails leaves no task behind", async () => {
  const fanOut = flowOf(async (flow) => {
    const texts = await flow.all(
      [1, 2, 3, 4].map((n) => async (branch) => (await branch.ask("one", { text: `part ${n}` })).answer),
      { concurrency: 2 },
    );
    const failing = flow.all([
      async (branch) => branch.ask("slow", { text: "long" }),
      async (branch) => {
        await branch.ask("one", { text: "short" });
        return branch.ask("nobody", { text: "x" });
      },
    ]);
    const failure = await failing.then(
      () => "none",
      (error: AppError) => error.code,
    );
    await flow.ask("one", { text: "after" });
    return { answer: `${texts.length} ${failure}` };
  });
  await using flow = await flowForTest(fanOut, {
    agents: { one: (_, n) => ({ text: `${n}`, delayMs: 30 }), slow: () => ({ text: "late", delayMs: 20_000 }) },
  });
  const { answer, events } = await flow.run({ text: "Go" });
  expect(answer).toBe("4 invalid_input");
  let open = 0;
  const most = events
    .slice(
      0,
      events.findIndex((event) => event.type === "agent-asked" && event.agent === "slow"),
    )
    .map((event) => {
      if (event.type === "agent-asked") open++;
      if (event.type === "agent-answered") open--;
      return open;
    });
  expect(Math.max(...most)).toBe(2);
  const answered = ofType(events, "agent-answered").map(({ agent, state }) => `${agent} ${state}`);
  expect(answered.slice(-3)).toEqual(["one completed", "slow canceled", "one completed"]);
  expect((await flow.agent("slow").tasks()).filter(({ status }) => status !== "canceled")).toEqual([]);
});

test("the answer has the schema the caller requested", async () => {
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  await using flow = await flowForTest(asking("one"), {
    agents: { one: say("The total is 7.") },
    model: [{ calls: [{ name: "give_data", args: { data: { total: 7 } } }] }],
  });
  const { record } = await flow.run({ text: "Total?", outputSchema });
  expect(record.output).toEqual({ answer: "The total is 7.", data: { total: 7 } });
});

test("a flow that waited, and whose schema is accepted no longer, fails and says why before it asks anyone", async () => {
  await using flow = await flowForTest(asking("one"), { agents: { one: say("The total is 7.") } });
  const { record, events } = await flow.run({ text: "Total?", outputSchema: { not: { type: "string" } } });
  expect(record.error).toEqual({ code: "invalid_input", message: expect.stringMatching(/^outputSchema: .*not is/) });
  expect(ofType(events, "agent-asked")).toEqual([]);
});

test("an agent whose answer is the flow's gets the schema, and its answer needs no conversion", async () => {
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  const handingOn = flowOf(async (flow) => {
    const first = await flow.ask("one", { text: "First" });
    const { answer } = await flow.ask("two", { text: flow.goal }, { isAnswer: true });
    // What another agent says in that form is not the answer.
    await flow.ask("two", { text: "Check it" }, { outputSchema });
    return { answer, data: { first: first.answer, total: -1 } };
  });
  await using flow = await flowForTest(handingOn, {
    agents: {
      one: say("Not in any form."),
      two: [7, 8].map((total) => ({ calls: [{ name: "create_chat_completion", args: { response: { total } } }] })),
    },
  });
  const { record } = await flow.run({ text: "Total?", outputSchema });
  expect(record.output).toEqual({ answer: '{"total":7}', data: { total: 7 } });
  expect(flow.model.requests).toEqual([]);
  // Who only helps is free to answer as it likes.
  const [helped] = await flow.agent("one").tasks();
  expect(helped?.input).not.toHaveProperty("outputSchema");
});

test("what comes without a text is passed on as it is, and a flow that is asked is not taken to remember", async () => {
  const parts = [{ type: "data", data: { a: 1 } }] as const;
  const passing = flowOf(async (flow) => {
    const passed = await flow.ask("one", { text: "", parts });
    const asked = await flow.ask("two", { text: "Go", parts });
    return { answer: [passed, asked].map(({ remembers = false }) => remembers).join() };
  });
  await using flow = await flowForTest(passing, {
    agents: { one: say("done"), two: say("done") },
    entries: { two: { kind: "flow" } },
  });
  const { answer, events } = await flow.run({ text: "Go" });
  expect(answer).toBe("true,false");
  expect(ofType(events, "agent-asked").map((event) => event.parts)).toEqual([
    [...parts],
    [{ type: "text", text: "Go" }, ...parts],
  ]);
});

test("an answer whose text fits the schema is used unchanged", async () => {
  const outputSchema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
  await using flow = await flowForTest(asking("one"), { agents: { one: say('Here:\n```json\n{"total": 7}\n```') } });
  const { record } = await flow.run({ text: "Total?", outputSchema });
  expect(record.output).toMatchObject({ data: { total: 7 } });
  expect(flow.model.requests).toEqual([]);
});

test("only text that becomes the flow's answer is marked so while an agent or the flow's model writes it", async () => {
  const putTogether = flowOf(async (flow) => {
    await flow.ask("one", { text: "Part" });
    await flow.write({ name: "aside", instructions: "Write.", text: "Aside" });
    await flow.ask("two", { text: "Whole" }, { isAnswer: true });
    return { answer: await flow.write({ name: "end", instructions: "Write.", text: "End", isAnswer: true }) };
  });
  const slowly = (text: string) => () => ({ text, deltaDelayMs: 40 });
  await using flow = await flowForTest(putTogether, {
    agents: { one: slowly("a part of it"), two: slowly("the whole of it") },
    model: [
      { text: "an aside", deltaDelayMs: 10 },
      { text: "the end", deltaDelayMs: 10 },
    ],
  });
  const id = await flow.start({ text: "Go" });
  const written = { agent: "", model: "", rest: "" };
  for await (const item of flow.engine.follow(id, { after: 0, signal: AbortSignal.timeout(60_000) })) {
    if (item.kind !== "progress") continue;
    const { type, text = "", isAnswer = false } = item.event as { type: string; text?: string; isAnswer?: boolean };
    if (type === "agent-writing") written[isAnswer ? "agent" : "rest"] += text;
    if (type === "text-delta") written[isAnswer ? "model" : "rest"] += text;
  }
  expect([written.agent, written.model]).toEqual(["the whole of it", "the end"]);
  expect(written.rest).toContain("an aside");
});

test("what an agent writes before a call is told apart from its answer", async () => {
  const passing = flowOf(async (flow) => ({
    answer: (await flow.ask("one", { text: "Go" }, { isAnswer: true })).answer,
  }));
  const slow = { deltaDelayMs: 40 };
  const look = { name: "no_such_tool", args: {} };
  const one = (_: unknown, n: number) =>
    n === 0 ? { text: "let me look", calls: [look], ...slow } : { text: "so", ...slow };
  await using flow = await flowForTest(passing, { agents: { one } });
  const id = await flow.start({ text: "Go" });
  const written: unknown[] = [];
  for await (const item of flow.engine.follow(id, { after: 0, signal: AbortSignal.timeout(20_000) })) {
    if (item.kind === "progress" && item.event.type === "agent-written") written.push(item.event);
  }
  const mine = { type: "agent-written", askId: expect.any(String), isAnswer: true };
  expect(written).toContainEqual({ ...mine, text: "let me look", isThought: true });
  expect(written).not.toContainEqual({ ...mine, text: "so", isThought: true });
});

test("agents that ask each other in a circle come to an end", async () => {
  await using flow = await flowForTest(
    flowOf(async (flow) => {
      const { state, error } = await flow.ask("one", { text: "Go" });
      return { answer: `${state} ${error?.code}` };
    }),
    { agents: { one: say("1") } },
  );
  expect((await flow.run({ text: "Go", hops: 8 })).answer).toBe("failed hop_limit");
  expect(await flow.agent("one").tasks()).toEqual([]);
});

test("a flow's sources travel with its asks: files, earlier answers, and those of its caller", async () => {
  const twice = flowOf(async (flow) => {
    const first = await flow.ask("one", { text: flow.goal, parts: flow.files });
    return { answer: (await flow.ask("two", { text: first.answer })).answer };
  });
  for (const [request, first, second] of [
    [{}, [], ["web"]],
    [{ files: true }, ["file"], ["file", "web"]],
    [{ hops: 1 }, ["task"], ["task", "web"]],
    [{ hops: 1, takenIn: ["bash"] }, ["bash"], ["bash", "web"]],
  ] as const) {
    await using flow = await flowForTest(twice, { agents: { one: say("1"), two: say("2") } });
    const stored = await flow.artifacts.put(new TextEncoder().encode("x"), { name: "a.txt", mediaType: "text/plain" });
    const files = "files" in request ? [{ type: "file", ...stored } as const] : [];
    const { events } = await flow.run({ text: "Go", ...request, files });
    const newest = async (name: string) =>
      (await flow.agent(name).tasks())[0]?.input as { takenIn?: string[]; said?: string[] } | undefined;
    const [one, two] = [await newest("one"), await newest("two")];
    expect([one?.takenIn, two?.takenIn]).toEqual([[...first], [...second]]);
    // The flow's text is the user's only where the user asked the flow.
    for (const input of [one, two]) expect(input?.said ?? []).toEqual("hops" in request ? [] : ["Go"]);
    expect(ofType(events, "artifact-added").at(-1)).toMatchObject({ name: "answer", takenIn: [...second] });
  }
});

test("a run accepted but never started by an earlier version reads its settings from the data part; in other runs data belongs to the task", async () => {
  const body = flowOf(async ({ files, agents, isChosen }) => ({
    answer: JSON.stringify({ files, agents: agents.map(({ name }) => name), isChosen }),
  }));
  await using flow = await flowForTest(body, { agents: { one: say("1"), two: say("2") } });
  const data = { agents: ["two"], options: {} };
  const parts = [{ type: "text", text: "Go" } as const, { type: "data", data } as const];
  const answer = async (input: AgentInput) => {
    const { run } = await flow.engine.start({ kind: "tried", input, principal: "p", contextId: crypto.randomUUID() });
    return JSON.parse(((await flow.until(run.id, "completed", "failed")).output as AgentOutput).answer);
  };
  const before = await answer({ hops: 0, message: { messageId: "a", parts } });
  expect(before).toEqual({ files: [], agents: ["two"], isChosen: true });
  const now = await answer({ hops: 0, message: { messageId: "b", parts }, flow: {} });
  expect(now).toEqual({ files: [{ type: "data", data }], agents: ["one", "two"], isChosen: false });
});

test("a file named like one of the flow's artifacts does not replace it", async () => {
  const names = ["answer", "partial-answer", "plan.md", "transcript.md", "report.md"];
  const handing = flowOf(async (flow) => {
    flow.handOn(names.map((name) => ({ name, mediaType: "text/plain", size: 1, sha256: "0".repeat(64) })));
    return { answer: "The answer" };
  });
  await using flow = await flowForTest(handing, { agents: { one: say("1") } });
  const { events } = await flow.run({ text: "Go" });
  expect(ofType(events, "artifact-added").map(({ name }) => name)).toEqual([
    "./answer",
    "./partial-answer",
    "./plan.md",
    "./transcript.md",
    "report.md",
    "answer",
  ]);
});

test("a flow that asks only some agents works with those, whatever others there are", async () => {
  const naming = {
    ...flowOf(async ({ agents }) => ({ answer: agents.map(({ name }) => name).join() })),
    asks: ["two"],
  };
  await using flow = await flowForTest(naming, { agents: { one: say("1"), two: say("2") } });
  expect((await flow.run({ text: "Go" })).answer).toBe("two");
});

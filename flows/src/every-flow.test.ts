import { expect, test } from "bun:test";
import { defineFlow } from "manyhands/flows";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type FlowStart, flowForTest } from "manyhands/internal/testing/flow";
import type { ScriptedReply } from "manyhands/internal/testing/models/scripted-model";
import { flows } from "./flows.ts";
import { plan } from "./testing/planner.ts";
import { doorForTest } from "./testing/served-flow.ts";

/** What each flow is asked for: two pieces of work, by one agent or by two. */
const requests: Readonly<Record<string, FlowStart>> = {
  planning: { text: "Go" },
  sequential: { text: "Go", agents: ["one", "two"] },
  parallel: { text: "Go", agents: ["one", "two"] },
  conditional: { text: "Go", options: { branches: [{ name: "way", agent: "one", rules: [{ keywords: ["go"] }] }] } },
  loop: { text: "Go", agents: ["one"], options: { until: { by: "agent", agent: "two" } } },
  debate: {
    text: "Go",
    options: { rounds: 1, positions: ["one", "two"].map((agent) => ({ agent, position: `that of ${agent}` })) },
  },
};

/** Flows that ask both at the same time, so neither sees the other's result. */
const atOnce = new Set(["planning", "parallel", "debate"]);

const steps = ["one", "two"].map((agent) => ({ text: `Work of ${agent}`, agent }));
const verdict = { decision: "both", confidence: 1, reasons: ["they are right"], dissent: "", citations: [1] };

/** The model of any flow. */
function model({ tools }: ChatRequest): ScriptedReply {
  const name = tools?.[0]?.function.name ?? "";
  if (name === "planning") return plan(...steps);
  const replies: Readonly<Record<string, object>> = {
    check_step: { verdict: "met", evidence: "it says so", reason: "done" },
    give_verdict: verdict,
  };
  return name in replies ? { calls: [{ name, args: replies[name] }] } : { text: "the report" };
}

/**
 * An agent that asks a question first if it may, and returns whatever form is wanted of its answer.
 */
const agent =
  (asks: boolean) =>
  ({ messages, tools = [] }: ChatRequest): ScriptedReply => {
    const isAnswered = messages.some(({ role }) => role === "tool");
    if (asks && !isAnswered) return { calls: [{ name: "ask_human", args: { inquire: "Which colour?" } }] };
    const wantsForm = tools.some((one) => one.function.name === "create_chat_completion");
    const response = { passed: true, feedback: "fine", score: 1 };
    return wantsForm ? { calls: [{ name: "create_chat_completion", args: { response } }] } : { text: "done" };
  };

test.each(flows.map((flow) => [flow.name, flow] as const))(
  "%s: the flow asks an agent's question, and after the answer it continues to its end",
  async (name, definition) => {
    await using flow = await flowForTest(definition, { agents: { one: agent(true), two: agent(false) }, model });
    const id = await flow.start(requests[name] ?? { text: "" });
    expect(await flow.event(id, "question-asked")).toMatchObject({ question: "one asks:\n\nWhich colour?" });
    await flow.say(id, "red");
    expect((await flow.until(id, "completed", "failed")).status).toBe("completed");
    const [task] = await flow.agent("one").tasks();
    expect(JSON.stringify(await flow.agent("one").engine.events(task?.id ?? ""))).toContain('"text":"red"');
  },
);

test.each(flows.map((flow) => [flow.name, flow] as const))(
  "%s: a cancel ends it and the tasks of its agents",
  async (name, definition) => {
    const late = () => ({ text: "late", delayMs: 600_000 });
    await using flow = await flowForTest(definition, { agents: { one: late, two: late }, model });
    const id = await flow.start(requests[name] ?? { text: "" });
    await flow.event(id, "agent-accepted");
    await flow.engine.cancel(id);
    await flow.until(id, "canceled");
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10)) {
      const tasks = (await Promise.all(["one", "two"].map((each) => flow.agent(each).tasks()))).flat();
      if (tasks.length > 0 && tasks.every(({ status }) => status === "canceled")) return;
    }
    throw new Error("an agent works on");
  },
);

test.each(flows.map((flow) => [flow.name, flow] as const))(
  "%s: its agents share its budget and never get more than it",
  async (name, definition) => {
    const budget = { tokens: 60_000, usd: 2, wallMs: 60_000, steps: 7 };
    await using flow = await flowForTest(definition, { agents: { one: agent(false), two: agent(false) }, model });
    const { record } = await flow.run({ text: "", ...requests[name], budget });
    expect(record.status).toBe("completed");
    const tasks = (await Promise.all(["one", "two"].map((each) => flow.agent(each).tasks()))).flat();
    const given = tasks.map(({ input }) => (input as AgentInput).budget ?? {});
    expect(given.length).toBeGreaterThan(0);
    for (const { tokens = 0, usd = 0, wallMs = 0, steps } of given) {
      expect([tokens, usd, wallMs].map((share) => share > 0)).toEqual([true, true, true]);
      expect([tokens <= budget.tokens, usd <= budget.usd, wallMs <= budget.wallMs]).toEqual([true, true, true]);
      expect(steps).toBe(budget.steps);
    }
    if (!atOnce.has(name)) return;
    expect(given.reduce((all, { tokens = 0 }) => all + tokens, 0)).toBeLessThanOrEqual(budget.tokens);
    expect(given.reduce((all, { usd = 0 }) => all + usd, 0)).toBeLessThanOrEqual(budget.usd);
  },
);

/** Where what each agent made under one name arrives. */
const places: Readonly<Record<string, readonly string[]>> = {
  planning: ["figures", "2/figures"],
  sequential: ["figures", "figures"],
  parallel: ["figures", "2/figures"],
  conditional: ["figures"],
  loop: ["figures"],
  debate: ["figures", "argument-2/figures"],
};

/** An agent that makes data and a link beside its answer, and gives data with that. */
const maker = (name: string) =>
  defineFlow({
    name: "maker",
    description: "Makes figures.",
    example: { text: "Make figures." },
    async perform(flow) {
      const url = `https://example.com/${name}`;
      flow.artifact("figures", [
        { type: "data", data: { of: name } },
        { type: "url", url },
      ]);
      return { answer: "done", data: { counted: name } };
    },
  });

test.each(flows.map((flow) => [flow.name, flow] as const))(
  "%s: data and links that its agents made reach the caller as well as files do",
  async (name, definition) => {
    await using makers = await flowForTest(maker("one"), { agents: { idle: [] } });
    await using others = await flowForTest(maker("two"), { agents: { idle: [] } });
    await using one = doorForTest();
    await using two = doorForTest();
    one.open(maker("one"), makers);
    two.open(maker("two"), others);
    // In a loop the second agent checks the work.
    const entries = { one: { url: one.url }, ...(name !== "loop" && { two: { url: two.url } }) };
    await using flow = await flowForTest(definition, { agents: { one: [], two: agent(false) }, model, entries });
    const { record, events } = await flow.run(requests[name] ?? { text: "" });
    expect(record.status).toBe("completed");
    const made = events.flatMap((event) =>
      event.type === "artifact-added" && event.name.endsWith("figures") ? [event] : [],
    );
    expect(made.map((event) => event.name)).toEqual([...(places[name] ?? [])]);
    for (const [index, { parts }] of made.entries()) {
      const by = ["one", "two"][index] ?? "";
      expect(parts).toMatchObject([
        { type: "data", data: { of: by } },
        { type: "url", url: `https://example.com/${by}` },
      ]);
      expect(JSON.stringify(record.output)).toContain(`{"counted":"${by}"}`);
    }
  },
);

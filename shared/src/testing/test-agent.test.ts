import { expect, test } from "bun:test";
import { askHuman, files } from "manyhands/tools";
import * as z from "zod";
import { defineAgent } from "../agent/define-agent.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import { testAgent } from "./test-agent.ts";

const weather = defineTool({
  name: "weather",
  description: "Today's weather in a city.",
  input: z.strictObject({ city: z.string() }),
  effect: "pure",
  run: async ({ city }, { fetch }) => (await fetch(`https://weather.example/${city}`)).text(),
});

const concierge = defineAgent({
  name: "concierge",
  description: "Plans a day out.",
  instructions: "Check the weather first.",
  tools: [weather, files(), askHuman()],
});

test("an agent runs on a scripted model, with its own tools and the test as its web", async () => {
  const { status, answer, requests, events } = await testAgent(concierge, {
    task: "A day in Lisbon.",
    script: [{ calls: [{ name: "weather", args: { city: "Lisbon" } }] }, { text: "Go to the beach." }],
    fetch: async (url) => new Response(`Sunny, says ${url}`),
  });
  expect([status, answer]).toEqual(["completed", "Go to the beach."]);
  expect(JSON.stringify(requests.at(-1)?.messages.at(-1))).toContain("Sunny, says https://weather.example/Lisbon");
  expect(requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(
    expect.arrayContaining(["weather", "str_replace_editor", "ask_human"]),
  );
  expect(events.map(({ type }) => type)).toContain("tool-started");
});

test("the agent's questions get the test's replies, in order, and without one it waits", async () => {
  const script = [
    { calls: [{ name: "ask_human", args: { inquire: "Which city?" } }] },
    { calls: [{ name: "ask_human", args: { inquire: "Which day?" } }] },
    { text: "Lisbon on Monday." },
  ];
  const asked = await testAgent(concierge, { task: "A day out.", script, replies: ["Lisbon", "Monday"] });
  expect([asked.status, asked.answer]).toEqual(["completed", "Lisbon on Monday."]);
  expect(JSON.stringify(asked.requests.at(-1)?.messages)).toMatch(/Lisbon.*Monday/);
  const left = await testAgent(concierge, { task: "A day out.", script, replies: ["Lisbon"] });
  expect([left.status, left.answer]).toEqual(["waiting", ""]);
});

test("a reply may depend on its question, as the yes to a call that a person decides about", async () => {
  const ordered: string[] = [];
  const order = defineTool({
    name: "order",
    description: "Orders an item.",
    input: z.strictObject({ item: z.string() }),
    effect: "once",
    risk: async ({ item }) => `Orders ${item}.`,
    run: async ({ item }) => `Order ${ordered.push(item)} is made.`,
  });
  const shop = defineAgent({ name: "shop", description: "Orders.", instructions: "Order.", tools: [order] });
  const script = [{ calls: [{ name: "order", args: { item: "a lamp" } }] }, { text: "Ordered." }];
  const task = { task: "Order a lamp.", script };
  const asked = await testAgent(shop, { ...task, replies: ["yes", ({ approval }) => `yes ${approval?.id}`] });
  expect([asked.status, asked.answer, ordered]).toEqual(["completed", "Ordered.", ["a lamp"]]);
  const questions = asked.events.filter(({ type }) => type === "question-asked");
  expect(questions.map((event) => JSON.stringify(event).includes("include the code"))).toEqual([false, true]);
});

test("a script that is too short fails the task, and says so", async () => {
  const { status, error } = await testAgent(concierge, { task: "A day out.", script: [] });
  expect(status).toBe("failed");
  expect(error?.message).toContain("The script ended after 0 replies");
});

test("the answer comes in the form that the test asks for, and one in another goes back to the model", async () => {
  const outputSchema = z.toJSONSchema(z.strictObject({ city: z.string() }));
  const give = (response: object) => ({ calls: [{ name: "create_chat_completion", args: { response } }] });
  const script = [give({ town: "Lisbon" }), give({ city: "Lisbon" })];
  const { status, data, requests } = await testAgent(concierge, { task: "Where to?", script, outputSchema });
  expect([status, data, requests.length]).toEqual(["completed", { city: "Lisbon" }, 2]);
});

import { expect, test } from "bun:test";
import * as z from "zod";
import type { ReadEvent } from "../core/events/events.ts";
import type { ImagePart, ModelMessage, ModelRequest } from "../core/model.ts";
import type { AskedImage, AskedMessage, AskedRequest } from "../core/runs/asked-request.ts";
import { defineTool } from "../core/tools/define-tool.ts";
import type { ArtifactStore } from "../core/workspace.ts";
import type { ChatRequest } from "../models/chat/chat-protocol.ts";
import { modelConfigSchema } from "../models/config.ts";
import { createModel } from "../models/create-model.ts";
import { type AgentForTest, agentForTest } from "../testing/agent/agent.ts";
import { startScriptedModel } from "../testing/models/scripted-model.ts";
import { askedAt } from "./asked-at.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  input: z.strictObject({ text: z.string() }),
  effect: "pure",
  run: async ({ text }) => text,
});
const asker = defineTool({
  name: "asker",
  description: "Asks the model twice, at once.",
  input: z.strictObject({}),
  effect: "pure",
  run: async (_, { ask }) =>
    (await Promise.all(["one", "two"].map((text) => ask({ instructions: "INSIDE", text })))).join(),
});
const picture = defineTool({
  name: "picture",
  description: "Shows a picture.",
  input: z.strictObject({}),
  effect: "pure",
  run: async () => ({
    text: "Here.",
    isError: false,
    images: [{ type: "image" as const, mediaType: "image/png", data: png }],
  }),
});
const config = { capabilities: { vision: true, contextWindow: 8_000, maxOutputTokens: 2_000 } };
const filler = "lorem ipsum dolor sit amet ".repeat(60);

/** What the provider got: its messages and tools, and what bounds its answer. */
const wireOf = ({ messages, tools, tool_choice, max_tokens, max_completion_tokens }: ChatRequest) =>
  JSON.stringify({ messages, tools, tool_choice, max: max_tokens ?? max_completion_tokens });

/** A request put to a model again, as a provider gets it. */
async function askedAgain(asked: AskedRequest, artifacts: ArtifactStore): Promise<string> {
  const model = await startScriptedModel([{ text: "again" }]);
  try {
    const again = createModel(modelConfigSchema.parse({ name: "scripted", baseUrl: model.url, ...config }));
    const request = { ...asked, messages: await Promise.all(asked.messages.map((one) => withImages(one, artifacts))) };
    for await (const _ of again.ask(request as ModelRequest, { signal: AbortSignal.timeout(60_000) }));
    return wireOf(model.requests[0]?.body as ChatRequest);
  } finally {
    await model.close();
  }
}

async function withImages(message: AskedMessage, artifacts: ArtifactStore): Promise<ModelMessage> {
  const image = async ({ type, mediaType, sha256 }: AskedImage): Promise<ImagePart> => {
    const content = await artifacts.get(sha256);
    return { type, mediaType, data: Buffer.from((await content?.bytes()) ?? []).toString("base64") };
  };
  if (message.role === "user") {
    const parts = message.parts.map(async (part) => (part.type === "image" ? image(part) : part));
    return { ...message, parts: await Promise.all(parts) };
  }
  if (message.role !== "tool") return message;
  const { images, ...rest } = message;
  return { ...rest, ...(images && { images: await Promise.all(images.map(image)) }) };
}

/** The requests of all calls that the run's events report, as a provider gets them. */
async function reported(agent: AgentForTest, id: string, events: readonly ReadEvent[]): Promise<string[]> {
  const calls = events.flatMap((event, at) => ("request" in event ? [at + 1] : []));
  return Promise.all(calls.map(async (seq) => askedAgain(await askedAt(agent.engine, id, seq), agent.artifacts)));
}

test("what a model was asked can be had from the journal, exactly, over pictures, questions of tools, compactions, other tools and a restart", async () => {
  let n = 0;
  const script = (request: ChatRequest) => {
    const first = JSON.stringify(request.messages[0]);
    if (first.includes("working memory")) return { text: "SUMMARY" };
    if (first.includes("INSIDE")) return { text: "inside" };
    n++;
    if (n === 2) return { calls: [{ name: "picture", args: {} }] };
    if (n === 3) return { calls: [{ name: "asker", args: {} }] };
    if (n === 8) return { calls: [{ name: "ask_human", args: {} }] };
    return n < 16 ? { calls: [{ name: "echo", args: { text: `${n} ${filler}` } }] } : { text: "Done." };
  };
  const question = defineTool({
    ...{ name: "ask_human", description: "Asks.", input: z.strictObject({}), effect: "pure" },
    run: async (_, { answer }) =>
      answer === undefined
        ? { text: "", isError: false, asks: { question: "Go on?", state: null } }
        : { text: "Yes.", isError: false },
  });
  const hint = ({ turn }: { readonly turn: number }) => `Turn ${turn}.`;
  const options = { tools: [echo, picture, asker, question], agent: { turnHint: hint }, model: config };
  await using agent = await agentForTest({ script, ...options });
  const id = await agent.start("Go on.", { parts: [await storedPicture(agent.artifacts)] });
  await agent.until(id, "waiting");
  await agent.restart({ tools: [echo, { ...picture, description: "Shows another." }, asker, question] });
  await agent.say(id, "yes");
  await agent.until(id, "completed");
  const events = await agent.events(id);
  expect(events.filter(({ type }) => type === "context-compacted").length).toBeGreaterThan(0);
  expect(events.filter(({ type }) => type === "model-asked")).toHaveLength(2);
  const sent = agent.model.requests.map(({ body }) => wireOf(body));
  expect((await reported(agent, id, events)).toSorted()).toEqual(sent.toSorted());
  const bytes = JSON.stringify(await agent.engine.recorded(id, "asked")).length;
  const whole = sent.reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeLessThan(whole / 2);
});

async function storedPicture(artifacts: ArtifactStore) {
  const file = await artifacts.put(Buffer.from(png, "base64"), { name: "dot.png", mediaType: "image/png" });
  return { type: "file" as const, ...file };
}

test("an event that reports no call, one that is not there, and a request that went with its journal are not found", async () => {
  await using agent = await agentForTest({ script: [{ text: "Done." }] });
  const { record } = await agent.run("Hello.");
  const events = await agent.events(record.id);
  const at = events.findIndex(({ type }) => type === "model-replied") + 1;
  expect(await askedAt(agent.engine, record.id, at)).toMatchObject({
    messages: [{ role: "system" }, { role: "user" }],
  });
  const refused = (seq: number) => askedAt(agent.engine, record.id, seq).then(String, (error) => String(error.message));
  expect(await refused(1)).toBe("Event 1 has no request to a model.");
  expect(await refused(99)).toContain("has no event 99");
  await agent.engine.deleteJournals({ endedBy: Date.now() + 60_000, limit: 10 });
  expect(await refused(at)).toContain("is not kept any more");
});

import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/define-tool.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { observe } from "./observe.ts";

const step = defineTool({
  name: "step",
  description: "Goes on.",
  input: z.strictObject({ n: z.int() }),
  effect: "once",
  run: async ({ n }) => `at ${n}`,
});
const steps = (count: number) => Array.from({ length: count }, (_, n) => ({ calls: [{ name: "step", args: { n } }] }));
const png = { type: "image", mediaType: "image/png", data: "aGk=" } as const;

test("an observation is at the end of one prompt, is never stored, and leaves the text before it unchanged", async () => {
  let looks = 0;
  await using agent = await agentForTest({
    script: [...steps(3), { text: "done" }],
    tools: [step],
    agent: { look: async () => ({ text: `SIGHT ${++looks}`, images: [png] }), stepHint: () => "HINT" },
    model: { capabilities: { vision: true } },
  });
  const { record, events } = await agent.run("Go.");
  expect(record.status).toBe("completed");
  const prompts = agent.model.requests.map(({ body }) => body.messages);
  for (const [at, messages] of prompts.entries()) {
    const tail = JSON.stringify(messages.at(-1));
    expect(tail).toContain(`SIGHT ${at + 1}`);
    expect(tail).toContain("data:image/png;base64,aGk=");
    expect(JSON.stringify(messages.slice(0, -1))).not.toContain("SIGHT");
    expect(prompts[at + 1]?.slice(0, messages.length - 1) ?? messages.slice(0, -1)).toEqual(messages.slice(0, -1));
  }
  expect(JSON.stringify([events, record.output])).not.toContain("SIGHT");
});

test("a model that takes only text gets the text", async () => {
  const asked: boolean[] = [];
  await using agent = await agentForTest({
    script: [{ text: "done" }],
    agent: {
      look: async (_, { vision }) => {
        asked.push(vision);
        return { text: "SIGHT", images: [png] };
      },
    },
  });
  await agent.run("Go.");
  const prompt = JSON.stringify(agent.model.requests[0]?.body);
  expect(prompt).toContain("SIGHT");
  expect(prompt).not.toContain("image_url");
  expect(asked).toEqual([false]);
});

test("an agent resumed by another process observes again", async () => {
  let place = "before";
  await using agent = await agentForTest({
    script: [{ text: "never heard", delayMs: 5_000 }, { text: "done" }],
    agent: { look: async () => ({ text: `SIGHT ${place}` }) },
  });
  const id = await agent.start("Go.");
  for (const end = Date.now() + 60_000; agent.model.requests.length === 0 && Date.now() < end; ) await Bun.sleep(5);
  place = "after";
  await agent.restart({});
  await agent.until(id, "completed");
  expect(JSON.stringify(agent.model.requests[1]?.body)).toContain("SIGHT after");
});

test("an observation too large for the window is cut, and the prompt stays within the window", async () => {
  await using agent = await agentForTest({
    script: [...steps(4), { text: "done" }],
    tools: [step],
    agent: { look: async () => ({ text: "many words on a page ".repeat(20_000) }) },
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 1_000 } },
  });
  expect((await agent.run("Go.")).record.status).toBe("completed");
  for (const { body } of agent.model.requests) {
    expect(JSON.stringify(body).length).toBeLessThan(8_000 * 5);
    expect(JSON.stringify(body.messages.at(-1))).toContain("the rest of what is seen was left out");
  }
});

const looking = (look: NonNullable<Parameters<typeof observe>[0]["look"]>, signal = new AbortController().signal) => {
  const model = createModel(modelConfigSchema.parse({ name: "none", baseUrl: "http://127.0.0.1:1" }));
  const openWorkspace = async () => ({}) as never;
  const run = { principal: "a", contextId: "c" } as never;
  return observe({ look }, { run, contextWindow: 10_000, messages: [] }, { model, openWorkspace, lookMs: 30 }, signal);
};

test("an observation that hangs or fails is replaced by a note", async () => {
  expect(await looking(() => new Promise(() => undefined))).toEqual({
    text: "[Could not look: it took longer than 0.03 s.]",
  });
  expect(await looking(() => Promise.reject(new Error("the page is gone")))).toEqual({
    text: "[Could not look: the page is gone]",
  });
  expect(await looking(async () => undefined)).toBeUndefined();
});

test("an abort during an observation rejects with the signal's own reason", async () => {
  const stopping = new AbortController();
  const observation = looking(() => new Promise(() => undefined), stopping.signal);
  stopping.abort("stop");
  expect(observation).rejects.toBe("stop");
});

test("an observation knows which tools the newest turns called", async () => {
  const recent: (readonly string[])[] = [];
  await using agent = await agentForTest({
    script: [...steps(5), { text: "done" }],
    tools: [step],
    agent: {
      look: async (_, options) => {
        recent.push(options.recent);
        return undefined;
      },
    },
  });
  await agent.run("Go.");
  expect(recent.map((names) => names.length)).toEqual([0, 1, 2, 3, 3, 3]);
  expect(recent.at(-1)).toEqual(["step", "step", "step"]);
});

import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { modelConfigSchema } from "../../models/config.ts";
import { createModel } from "../../models/create-model.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import type { OpenView } from "../task/agent-state.ts";
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

const contentOf = (message: { readonly content?: unknown } | undefined) => JSON.stringify(message?.content);

test("an observation follows the results of its turn and stays, so that each prompt starts with the whole one before", async () => {
  let looks = 0;
  await using agent = await agentForTest({
    script: [...steps(3), { text: "done" }],
    tools: [step],
    agent: {
      look: async () => ({ text: `SIGHT ${++looks}`, mark: `${looks}`, ...(looks > 1 && { since: `${looks - 1}` }) }),
    },
  });
  const { record, events } = await agent.run("Go.");
  expect(record.status).toBe("completed");
  const prompts = agent.model.requests.map(({ body }) => body.messages);
  expect(prompts).toHaveLength(4);
  expect(contentOf(prompts[0]?.at(-1))).toContain("SIGHT 1");
  expect(prompts[3]?.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
    "at 0\n\nSIGHT 2",
    "at 1\n\nSIGHT 3",
    "at 2\n\nSIGHT 4",
  ]);
  for (const [at, messages] of prompts.entries())
    expect(prompts[at + 1]?.slice(0, messages.length) ?? messages).toEqual(messages);
  expect(events.flatMap((event) => (event.type === "model-replied" ? [event.observation?.text] : []))).toEqual([
    "SIGHT 1",
    "SIGHT 2",
    "SIGHT 3",
    "SIGHT 4",
  ]);
});

test("the next task of the conversation has what was seen", async () => {
  await using agent = await agentForTest({
    script: [...steps(1), { text: "done" }, { text: "done again" }],
    tools: [step],
    agent: { look: async () => ({ text: "SIGHT" }) },
  });
  await agent.run("Go.");
  await agent.run("And now?");
  const messages = agent.model.requests.at(-1)?.body.messages ?? [];
  expect(JSON.stringify(messages).split("SIGHT")).toHaveLength(2);
});

test("an observation names the one it may build upon, as long as the conversation has that one whole", async () => {
  const asked: (string | undefined)[] = [];
  const firsts: boolean[] = [];
  await using agent = await agentForTest({
    script: [...steps(4), { text: "done" }],
    tools: [step],
    agent: {
      look: async (_, { since, isFirst }) => {
        asked.push(since);
        firsts.push(isFirst);
        const n = asked.length;
        if (n === 3) throw new Error("the page hangs");
        return { text: `SIGHT ${n}`, mark: `${n}`, ...(since !== undefined && { since }) };
      },
    },
  });
  await agent.run("Go.");
  expect(asked).toEqual([undefined, "1", "2", "2", "4"]);
  expect(firsts).toEqual([true, false, false, false, false]);
});

test("many changes since a whole page make the next observation whole again", async () => {
  const asked: (string | undefined)[] = [];
  await using agent = await agentForTest({
    script: [...steps(5), { text: "done" }],
    tools: [step],
    agent: {
      look: async (_, { since }) => {
        asked.push(since);
        return {
          text: `SIGHT ${"word ".repeat(1_200)}${asked.length}`,
          mark: `${asked.length}`,
          ...(since && { since }),
        };
      },
    },
  });
  await agent.run("Go.");
  expect(asked).toEqual([undefined, "1", "2", "3", undefined, "5"]);
});

/**
 * How many messages of each prompt differ from the prompt before, not counting those that are new.
 */
function changedMessages(prompts: readonly (readonly unknown[])[]): number[] {
  return prompts.map((messages, at) => {
    const before = prompts[at - 1] ?? [];
    const same = before.findIndex((message, n) => !Bun.deepEquals(message, messages[n]));
    return same < 0 ? 0 : before.length - same;
  });
}

test("a page is folded when the agent leaves it, so that little of the prompt before changes", async () => {
  let looks = 0;
  await using agent = await agentForTest({
    script: [...steps(20), { text: "done" }],
    tools: [step],
    agent: {
      look: async () => ({ text: `PAGE ${++looks} ${"word ".repeat(400)}`, mark: `${looks}`, brief: `BRIEF ${looks}` }),
    },
  });
  await agent.run("Go.");
  const prompts = agent.model.requests.map(({ body }) => body.messages);
  expect(Math.max(...changedMessages(prompts))).toBeLessThan(4);
  const last = JSON.stringify(prompts.at(-1));
  for (let n = 1; n <= 20; n++) expect(last).toContain(`BRIEF ${n}`);
  expect(last.match(/PAGE \d+/g)).toEqual(["PAGE 21"]);
});

test("small pages between long results are folded many at once, and seldom", async () => {
  let looks = 0;
  const long = defineTool({
    ...step,
    input: z.strictObject({ n: z.int() }),
    effect: "once",
    run: async ({ n }) => `${n} ${"result ".repeat(120)}`,
  });
  await using agent = await agentForTest({
    script: [...steps(20), { text: "done" }],
    tools: [long],
    agent: { look: async () => ({ text: `PAGE ${++looks} ${"word ".repeat(50)}`, mark: `${looks}` }) },
  });
  await agent.run("Go.");
  const broken = changedMessages(agent.model.requests.map(({ body }) => body.messages)).filter((count) => count > 0);
  expect(broken.length).toBeLessThan(4);
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
  let looks = 0;
  await using agent = await agentForTest({
    script: [...steps(4), { text: "done" }],
    tools: [step],
    agent: { look: async () => ({ text: `${++looks} ${"many words on a page ".repeat(20_000)}` }) },
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 1_000 } },
  });
  expect((await agent.run("Go.")).record.status).toBe("completed");
  for (const { body } of agent.model.requests) {
    expect(JSON.stringify(body).length).toBeLessThan(8_000 * 5);
    expect(JSON.stringify(body.messages)).toContain("the rest of what is seen was left out");
  }
});

test("a text that was cut is no base for later changes", async () => {
  const asked: unknown[] = [];
  await using agent = await agentForTest({
    script: [...steps(2), { text: "done" }],
    tools: [step],
    agent: {
      look: async (_, { since, isFirst }) => {
        asked.push([since, isFirst]);
        const text = asked.length === 2 ? "short" : `${asked.length} ${"many words on a page ".repeat(2_000)}`;
        return { text, mark: `${asked.length}`, brief: "A page." };
      },
    },
    model: { capabilities: { contextWindow: 8_000, maxOutputTokens: 1_000 } },
  });
  const { events } = await agent.run("Go.");
  expect(asked).toEqual([
    [undefined, true],
    [undefined, false],
    ["2", false],
  ]);
  const seen = events.flatMap((event) => (event.type === "model-replied" ? [event.observation] : []));
  expect(seen.map((one) => [one?.mark, one?.brief])).toEqual([
    [undefined, "A page."],
    ["2", "A page."],
    [undefined, "A page."],
  ]);
});

type Look = NonNullable<Parameters<typeof observe>[0]["look"]>;
const looking = (look: Look, signal = new AbortController().signal, open: OpenView[] = []) => {
  const model = createModel(modelConfigSchema.parse({ name: "none", baseUrl: "http://127.0.0.1:1" }));
  const openWorkspace = async () => ({}) as never;
  const run = { principal: "a", contextId: "c" } as never;
  return observe(
    { look },
    { run, contextWindow: 10_000, messages: [], views: { open, weighed: 0 } },
    { model, openWorkspace, lookMs: 30 },
    signal,
  );
};

test("an observation that hangs or fails is replaced by a note", async () => {
  expect(await looking(() => new Promise(() => undefined))).toEqual({
    text: "[Could not look: it took longer than 0.03 s. Look again before you act.]",
  });
  expect(await looking(() => Promise.reject(new Error("the page is gone")))).toEqual({
    text: "[Could not look: the page is gone]",
  });
  expect(await looking(async () => undefined)).toBeUndefined();
});

test("a look that fails continues what was seen before, and is told once; one that hangs is stopped", async () => {
  const seen = (text: string, more: object = {}) => ({
    message: { role: "observation", text, ...more } as const,
    turn: 1,
  });
  const failing = () => Promise.reject(new Error("the page is gone"));
  const text = "[Could not look: the page is gone]";
  expect(await looking(failing, undefined, [seen("SIGHT", { mark: "1" })])).toEqual({ text, since: "1" });
  expect(await looking(failing, undefined, [seen("SIGHT")])).toEqual({ text });
  expect(await looking(failing, undefined, [seen(text)])).toBeUndefined();
  let given: AbortSignal | undefined;
  await looking((_, { signal }) => {
    given = signal;
    return new Promise(() => undefined);
  });
  expect(given?.aborted).toBe(true);
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

import { expect, spyOn, test } from "bun:test";
import * as z from "zod";
import { AppError, FilesUnavailable } from "../../core/errors.ts";
import type { EventOf } from "../../core/events/events.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";

const png = { type: "image", mediaType: "image/png", data: "aGk=" } as const;

/** A tool that does this when it is called. */
const doing = (run: (context: ToolContext) => Promise<ToolResult>, more: Partial<Tool> = {}): Tool => ({
  ...defineTool({ name: "act", description: "", input: z.looseObject({}), effect: "once", run: async () => "" }),
  call: (_, context) => run(context),
  ...more,
});
const script = [{ calls: [{ name: "act", args: {} }] }, { text: "done" }, { text: "done again" }];

type Options = Omit<Parameters<typeof agentForTest>[0], "script" | "tools">;

/** How the call of a tool ended, in the task and as its event tells it. */
async function ended(tool: Tool, options: Options = {}, more: Parameters<Agent["run"]>[1] = {}) {
  const agent = await agentForTest({ script, tools: [tool], ...options });
  const { events, record } = await agent.run("Go.", more);
  const event = events.find((one): one is EventOf<"tool-ended"> => one.type === "tool-ended");
  return { agent, event, events, record };
}
type Agent = Awaited<ReturnType<typeof agentForTest>>;

test("the event of a call holds its text, its sources and its images, so that the next task has them all", async () => {
  const result = { text: "A picture.", isError: false, images: [png, png], takenIn: ["notes.example"] };
  const { agent, event } = await ended(
    doing(async () => result),
    { model: { capabilities: { vision: true } } },
  );
  await using _ = agent;
  expect(event).toMatchObject({ text: "A picture.", isError: false, takenIn: ["notes.example"] });
  expect(event?.images).toMatchObject([
    { name: "act-1", mediaType: "image/png" },
    { name: "act-2", mediaType: "image/png" },
  ]);
  await agent.run("And now?");
  for (const { body } of agent.model.requests.slice(1))
    expect(JSON.stringify(body.messages)).toContain("data:image/png;base64,aGk=");
});

test.each(["once", "pure"] as const)(
  "what a call did is told, and not done again, while its pictures cannot be kept: %s",
  async (effect) => {
    let calls = 0;
    const act = doing(
      async () => {
        calls++;
        return { text: "Clicked.", isError: false, images: [png] };
      },
      { effect: () => effect },
    );
    await using agent = await agentForTest({ script, tools: [act], model: { capabilities: { vision: true } } });
    const put = agent.artifacts.put.bind(agent.artifacts);
    using _ = spyOn(agent.artifacts, "put").mockImplementation(async (content, about) => {
      if (about.mediaType === "image/png") throw new FilesUnavailable("The object store does not answer.");
      return put(content, about);
    });
    const { events } = await agent.run("Go.");
    const event = events.find((one): one is EventOf<"tool-ended"> => one.type === "tool-ended");
    expect(event).toMatchObject({
      text: "Clicked.\n[1 picture could not be kept and cannot be shown now.]",
      isError: false,
    });
    expect([event?.images, calls]).toEqual([undefined, 1]);
  },
);

test("a result shows the whole of a file only if the model read the whole of it", async () => {
  for (const [length, shown] of [
    [2_200, true],
    [2_201, false],
  ] as const) {
    const shows = { of: "file a.md", whole: "hash", brief: "[a.md as it was then.]", again: "[As above.]" };
    const { agent, event } = await ended(
      doing(async () => ({ text: "x".repeat(length), isError: false, shows })),
      { agent: { limits: { resultCharacters: 2_000 } } },
    );
    await using _ = agent;
    expect(event?.shows !== undefined).toBe(shown);
  }
});

test("an expected failure is told by its own words, and brings what the tool brings", async () => {
  const failing = doing(() => Promise.reject(new AppError("not_found", "There is no such page.")), { brings: ["web"] });
  const { agent, event } = await ended(failing);
  await using _ = agent;
  expect(event).toMatchObject({
    text: "act failed: There is no such page.",
    isError: true,
    takenIn: ["web"],
  });
});

test("a call that a person or the settings refused, that is unknown or malformed, brings nothing", async () => {
  const tool = (more: Partial<Tool>) =>
    doing(async () => ({ text: "read", isError: false }), { brings: ["web"], ...more });
  const takenIn = async (...[one, options]: Parameters<typeof ended>) => {
    const { agent, event } = await ended(one, options);
    await using _ = agent;
    return event?.takenIn;
  };
  expect(await takenIn(tool({}))).toEqual(["web"]);
  expect(await takenIn(tool({}), { approval: () => "deny" })).toEqual([]);
  expect(await takenIn(tool({ name: "other" }))).toEqual([]);
  const strict = defineTool({
    name: "act",
    description: "",
    input: z.strictObject({ n: z.int() }),
    effect: "once",
    brings: ["web"],
    run: async () => "",
  });
  expect(await takenIn(strict)).toEqual([]);
});

test("a call that waits for the web or for the model ends with the task's time, and says so", async () => {
  const hanging = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const waits: Record<string, (context: ToolContext) => Promise<unknown>> = {
    itself: ({ signal }) => hanging(signal),
    web: ({ fetch }) => fetch("http://far.example/"),
    model: ({ ask }) => ask({ instructions: "Say.", text: "What?" }),
  };
  const each = Object.entries(waits).map(async ([name, wait]) => {
    const tool = doing(async (context) => {
      await wait(context);
      return { text: "It came.", isError: false };
    });
    await using agent = await agentForTest({
      script: (request) =>
        JSON.stringify(request.messages[0]).includes("Say.") ? { text: "This.", delayMs: 20_000 } : (script[0] ?? {}),
      tools: [tool],
      fetch: (signal) => hanging(signal),
    });
    const { events, record } = await agent.run("Go.", { budget: { wallMs: 4_000 } });
    const event = events.find(({ type }) => type === "tool-ended");
    expect([name, event]).toMatchObject([
      name,
      { text: expect.stringMatching(/^Stopped: .*limit of 4 s /), isError: true },
    ]);
    expect(record.error?.code).toBe("time_limit");
  });
  await Promise.all(each);
}, 180_000);

test("a tool has its task's room for results, the step's key, and what it tells while it works is shown as the call's", async () => {
  let given: ToolContext | undefined;
  const tool = doing(async (context) => {
    given = context;
    context.progress("half of it");
    return { text: "", isError: false };
  });
  await using agent = await agentForTest({ script, tools: [tool], agent: { limits: { resultCharacters: 3_000 } } });
  const id = await agent.start("Go.");
  const shown: unknown[] = [];
  for await (const item of agent.engine.follow(id, { signal: AbortSignal.timeout(60_000) }))
    if (item.kind === "progress" && item.event.type === "tool-output") shown.push(item.event);
  const started = (await agent.events(id)).find((event) => event.type === "tool-started");
  expect(shown).toEqual([{ type: "tool-output", callId: started?.callId, text: "half of it" }]);
  // A call's id is the model's own choice, and may come again.
  expect([typeof given?.key, given?.key === started?.callId, given?.resultCharacters]).toEqual([
    "string",
    false,
    3_000,
  ]);
});

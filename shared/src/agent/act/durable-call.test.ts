import { expect, test } from "bun:test";
import * as z from "zod";
import type { Part } from "../../core/message.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { DurableContext } from "../../core/tools/durable-context.ts";
import type { Tool, ToolResult } from "../../core/tools/tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";

/** A tool that waits durably, and notes what it may use of its task. */
function waiting(result: ToolResult, more: Partial<Tool> = {}) {
  const given: DurableContext[] = [];
  const tool: Tool = {
    ...defineTool({ name: "wait", description: "", input: z.strictObject({}), effect: "once", run: async () => "" }),
    callDurably: async (_, __, context) => {
      given.push(context);
      return result;
    },
    ...more,
  };
  return { tool, given };
}
const script = [{ calls: [{ name: "wait", args: {} }] }, { text: "done" }];

test("a durable call's result is recorded with where it came from, which is what its tool brings if it does not say", async () => {
  for (const [takenIn, brings, expected] of [
    [["notes.example"], ["web"], ["notes.example"]],
    [undefined, ["web"], ["web"]],
    [undefined, undefined, ["wait"]],
    [[], ["web"], []],
  ] as const) {
    const { tool } = waiting({ text: "yes", isError: false, ...(takenIn && { takenIn }) }, brings && { brings });
    await using agent = await agentForTest({ script, tools: [tool] });
    const { events } = await agent.run("Go.");
    expect(events.find(({ type }) => type === "tool-ended")).toMatchObject({ text: "yes", takenIn: expected });
  }
});

test("a durable call's text of little more than the limit stays whole; a longer one is cut for the model and kept in a file", async () => {
  for (const length of [2_200, 2_201]) {
    const { tool } = waiting({ text: "x".repeat(length), isError: false });
    await using agent = await agentForTest({
      script,
      tools: [tool],
      agent: { limits: { resultCharacters: 2_000 } },
    });
    const { events } = await agent.run("Go.");
    const ended = events.find((event) => event.type === "tool-ended");
    const path = /the whole is in (\S+)\]/.exec(ended?.text ?? "")?.[1];
    if (length === 2_200) expect(ended?.text).toBe("x".repeat(length));
    else expect(ended?.text.length).toBeLessThanOrEqual(2_000);
    if (length > 2_200) expect(await Bun.file(`${agent.workspace.root}/${path}`).text()).toBe("x".repeat(length));
    const told = agent.model.requests.at(-1)?.body.messages.find(({ role }) => role === "tool");
    expect(told?.content).toBe(ended?.text ?? "");
  }
});

test("a durable call may end the task, and a failed one is told as an error", async () => {
  const { tool } = waiting({ text: "", isError: false, end: { status: "success", summary: "all of it" } });
  await using ending = await agentForTest({ script, tools: [tool] });
  expect((await ending.run("Go.")).record.output).toEqual({ answer: "all of it" });
  const failing = waiting({ text: "no", isError: true });
  await using agent = await agentForTest({ script, tools: [failing.tool] });
  const { events } = await agent.run("Go.");
  expect(events.find(({ type }) => type === "tool-ended")).toMatchObject({ text: "no", isError: true });
});

test("a durable call knows the task's words, sources, time for answers and how far the user is", async () => {
  const { tool, given } = waiting({ text: "", isError: false });
  await using agent = await agentForTest({ script, tools: [tool], agent: { limits: { answerMs: 7_000 } } });
  await agent.run("Look at notes.example.", { hops: 2, said: ["The user's words."], takenIn: ["bash"] });
  expect(given[0]).toMatchObject({
    hops: 2,
    answerMs: 7_000,
    said: ["The user's words."],
    takenIn: expect.arrayContaining(["bash"]),
  });
});

test("durable calls wait beside each other only where their tool allows it", async () => {
  for (const parallel of [true, false]) {
    let waits = 0;
    let most = 0;
    const { tool } = waiting(
      { text: "", isError: false },
      {
        parallel,
        callDurably: async () => {
          most = Math.max(most, ++waits);
          await Bun.sleep(20);
          waits--;
          return { text: "", isError: false };
        },
      },
    );
    await using agent = await agentForTest({
      script: [{ calls: [script[0], script[0]].flatMap((turn) => turn?.calls ?? []) }, { text: "done" }],
      tools: [tool],
    });
    await agent.run("Go.");
    expect(most).toBe(parallel ? 2 : 1);
  }
});

test("of a durable call's files, what a person sent is not a result of the task; what another agent made is", async () => {
  const parts: Part[] = [];
  const { tool } = waiting(
    { text: "", isError: false },
    {
      callDurably: async (_, __, { place, adopt }) => {
        const [sent, made] = parts;
        await place(sent ? [sent] : []);
        await adopt(made ? [made] : []);
        return { text: "", isError: false };
      },
    },
  );
  await using agent = await agentForTest({ script, tools: [tool] });
  for (const name of ["sent.txt", "made.txt"]) {
    const file = await agent.artifacts.put(Buffer.from(name), { name, mediaType: "text/plain" });
    parts.push({ type: "file", ...file });
  }
  const { events } = await agent.run("Go.");
  const results = events.flatMap((event) => (event.type === "artifact-added" ? [event.name] : []));
  expect(results.sort()).toEqual(["answer", "made.txt"]);
});

test("messages that came while a durable call waited are all read before the next turn", async () => {
  const { tool } = waiting(
    { text: "", isError: false },
    {
      callDurably: async (_, __, { receiveMessages }) => {
        receiveMessages(["one", "two"].map((text) => ({ messageId: text, parts: [{ type: "text", text }] })));
        return { text: "", isError: false };
      },
    },
  );
  await using agent = await agentForTest({ script, tools: [tool] });
  await agent.run("Go.");
  const users = agent.model.requests.at(-1)?.body.messages.filter(({ role }) => role === "user");
  expect(users?.map(({ content }) => content)).toEqual(["Go.", "one", "two"]);
});

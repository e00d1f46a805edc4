import { expect, spyOn, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { agentForTest } from "../../testing/agent/agent.ts";
import { askHuman } from "../../tools/human/ask-human.ts";
import { readCall } from "./plan-call.ts";

const slip = "{'city': 'Ulm',}";

/** A tool that ends the task, so that no prompt follows in which the call is written again. */
function ending() {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: "answer",
    description: "Ends the task.",
    input: z.strictObject({ city: z.string() }),
    effect: ({ city }) => (city === "Ulm" ? "idempotent" : "pure"),
    risk: async () => undefined,
    run: async (input) => {
      seen.push(input);
      return { text: "", isError: false, end: { status: "success", summary: "done" } };
    },
  });
  return { tool, seen };
}

test("a call's arguments are parsed and repaired once, for all who need them", async () => {
  const { tool, seen } = ending();
  await using agent = await agentForTest({
    script: [{ calls: [{ name: "answer", rawArguments: slip }] }],
    tools: [tool],
  });
  const parse = spyOn(JSON, "parse");
  try {
    const { record } = await agent.run("Go.");
    expect(record.status).toBe("completed");
    expect(seen).toEqual([{ city: "Ulm" }]);
    expect(parse.mock.calls.filter(([text]) => text === slip)).toHaveLength(1);
  } finally {
    parse.mockRestore();
  }
});

test("a server that takes over a task makes the call with the arguments as first parsed", async () => {
  const { tool, seen } = ending();
  const calls = [
    { name: "ask_human", args: { inquire: "Now?" } },
    { name: "answer", rawArguments: slip },
  ];
  await using agent = await agentForTest({ script: [{ calls }], tools: [askHuman(), tool] });
  const id = await agent.start("Go.");
  await agent.until(id, "waiting");
  await agent.restart({});
  const parse = spyOn(JSON, "parse");
  try {
    await agent.say(id, "yes");
    expect((await agent.until(id, "completed", "paused")).status).toBe("completed");
    expect(seen).toEqual([{ city: "Ulm" }]);
    expect(parse.mock.calls.filter(([text]) => text === slip)).toEqual([]);
  } finally {
    parse.mockRestore();
  }
});

test("a call recorded by an earlier version is parsed when it is made", () => {
  const call = { id: "1", name: "answer", arguments: slip };
  expect(readCall(call).input).toEqual({ ok: true, value: { city: "Ulm" } });
  const read = readCall({ ...call, arguments: "{" });
  expect(read.input.ok).toBe(false);
  expect(readCall(read)).toBe(read);
});

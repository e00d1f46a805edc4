import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../core/tools/define-tool.ts";
import { agentForTest } from "../testing/agent/agent.ts";
import { startProvider } from "../testing/models/provider-server.ts";
import { providerWires } from "../testing/models/provider-wires.ts";
import { askHuman } from "../tools/human/ask-human.ts";

const read = defineTool({
  name: "read",
  description: "Reads.",
  input: z.strictObject({}),
  effect: "pure",
  run: async () => "what was read",
});

test("what a provider signed is in the journal and goes back in its place after a restart, and is in no event", async () => {
  const wire = providerWires.anthropic;
  const thinking = (n: number) => ({ text: `thought ${n}`, signature: `signature-${n}` });
  const tokens = { fresh: 10, cached: 0, written: 900, output: 5 };
  const server = startProvider(wire, [
    { thinking: thinking(1), text: "First.", calls: [{ id: "a", name: "read", json: "{}" }], tokens },
    { thinking: thinking(2), calls: [{ id: "b", name: "ask_human", json: '{"inquire": "Go on?"}' }], tokens },
    { text: "done", tokens: { ...tokens, cached: 900, written: 20 } },
  ]);
  const model = { ...wire.settings, baseUrl: server.baseUrl, reasoningEffort: "low" } as const;
  await using agent = await agentForTest({ script: [], tools: [read, askHuman()], model });
  try {
    const id = await agent.start("Go.");
    await agent.until(id, "waiting");
    await agent.restart({});
    await agent.say(id, "yes");
    expect((await agent.until(id, "completed", "failed", "paused")).status).toBe("completed");
    const answers = server.requests[2]?.body.messages.filter(({ role }: { role: string }) => role === "assistant");
    expect(answers.map(({ content }: { content: { type: string }[] }) => content.map(({ type }) => type))).toEqual([
      ["thinking", "text", "tool_use"],
      ["thinking", "tool_use"],
    ]);
    expect(answers[0].content[0]).toMatchObject({ thinking: "thought 1", signature: "signature-1" });
    expect(answers[1].content[0]).toMatchObject({ thinking: "thought 2", signature: "signature-2" });
    const events = await agent.events(id);
    expect(JSON.stringify(events)).not.toContain("signature-");
    const replied = events.filter((event) => event.type === "model-replied");
    expect(replied.map(({ usage }) => [usage.cachedInputTokens, usage.cacheWriteTokens])).toEqual([
      [0, 900],
      [0, 900],
      [900, 20],
    ]);
    // Each turn marks what the next one begins with.
    for (const { body } of server.requests) expect(JSON.stringify(body)).toContain("cache_control");
  } finally {
    await server.close();
  }
});

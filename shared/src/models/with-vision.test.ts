import { expect, test } from "bun:test";
import type { ModelMessage } from "../core/model.ts";
import { startProvider } from "../testing/models/provider-server.ts";
import { providerWires } from "../testing/models/provider-wires.ts";
import { reply } from "../testing/models/reply.ts";
import { createModel } from "./create-model.ts";
import { withVision } from "./with-vision.ts";

const image = { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" } as const;
const said = (text: string): ModelMessage => ({ role: "assistant", text, toolCalls: [] });
const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });

test("the turn that shows an image is answered by the model that sees, the next one by the agent's own", async () => {
  const own = startProvider(providerWires.openai, [{ text: "as you say" }]);
  const eyes = startProvider(providerWires.anthropic, [{ text: "a cat" }]);
  const model = withVision(
    createModel({ name: "blind", baseUrl: own.baseUrl }),
    createModel({ ...providerWires.anthropic.settings, baseUrl: eyes.baseUrl }),
  );
  expect(model).toMatchObject({ name: "blind", capabilities: { vision: true, contextWindow: 32_768 } });
  const ask = (messages: readonly ModelMessage[]) =>
    reply(model, { messages, tools: [], toolChoice: "auto" }, { signal: AbortSignal.timeout(10_000) });
  try {
    const shown: ModelMessage = { role: "user", parts: [{ type: "text", text: "What is it?" }, image] };
    expect(await ask([shown])).toMatchObject({ text: "a cat", model: "claude-sonnet-4-5" });
    expect(JSON.stringify(eyes.requests[0]?.body)).toContain(image.data);
    expect(await ask([shown, said("a cat"), user("Thanks")])).toMatchObject({ text: "as you say", model: "blind" });
    expect(JSON.stringify(own.requests[0]?.body)).not.toContain(image.data);
    expect(JSON.stringify(own.requests[0]?.body)).toContain("a cat");
  } finally {
    await Promise.all([own.close(), eyes.close()]);
  }
});

test("a model that sees needs no other, and one that does not see helps nobody", () => {
  const blind = createModel({ name: "blind" });
  const sees = createModel({ name: "gpt-4o" });
  expect(withVision(sees, blind)).toBe(sees);
  expect(withVision(blind, createModel({ name: "blind-too" }))).toBe(blind);
  expect(withVision(blind, undefined)).toBe(blind);
});

test("what both answer has to fit into the smaller of their windows, by the rule of the one that sees", () => {
  const small = { contextWindow: 8_000, maxOutputTokens: 500 };
  const pair = (own: object, eyes: object) =>
    withVision(createModel({ name: "blind", capabilities: own }), createModel({ name: "gpt-4o", capabilities: eyes }));
  for (const one of [pair(small, {}), pair({}, small)])
    expect(one.capabilities).toMatchObject({ vision: true, ...small });
  expect(pair({}, {}).imageRule).toEqual(createModel({ name: "gpt-4o" }).imageRule);
  expect(pair({}, {}).imageRule).not.toEqual(createModel({ name: "blind" }).imageRule);
});

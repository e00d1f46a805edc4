import { expect, test } from "bun:test";
import type { ModelMessage, ModelReply, ModelRequest } from "../../core/model.ts";
import { type ProviderReply, startProvider } from "../../testing/models/provider-server.ts";
import { providerWires } from "../../testing/models/provider-wires.ts";
import { reply } from "../../testing/models/reply.ts";
import type { ModelSettings } from "../config.ts";
import { createModel } from "../create-model.ts";

const native = ["responses", "anthropic", "google", "bedrock"] as const;
type Kind = (typeof native)[number];
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tools = ["bash", "look"].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object", properties: {} },
}));
const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: "system", text: "You help." }, user("Hello")],
  tools,
  toolChoice: "auto",
  ...more,
});
const { signal } = new AbortController();

/** A model of this protocol with these settings, at a server that gives these replies. */
function opened(kind: Kind, settings: Partial<ModelSettings> = {}, replies?: readonly ProviderReply[]) {
  const wire = providerWires[kind];
  const server = startProvider(wire, replies ?? Array(9).fill({ text: "x" }));
  const own = { ...wire.settings, baseUrl: server.baseUrl, apiKey: "a-key-of-twenty-letters-or-more", maxRetries: 0 };
  const model = createModel({ ...own, ...settings }, { random: () => 0 });
  const ask = (more: Partial<ModelRequest> = {}) => reply(model, request(more), { signal });
  const sent = () => server.requests.map(({ body }) => JSON.stringify(body));
  return { ...server, ask, sent, [Symbol.asyncDispose]: () => server.close() };
}

/** What a body says of this key, wherever it is. */
function said(body: string | undefined, key: RegExp): string | undefined {
  return new RegExp(`"${key.source}":("[^"]*"|\\{[^}]*\\}|[^,}]*)`).exec(body ?? "")?.[1];
}

/** An answer's turn with a result for each of its calls. */
const turn = ({ text, toolCalls, carried }: ModelReply): ModelMessage[] => [
  { role: "assistant", text, toolCalls, ...(carried && { carried }) },
  ...toolCalls.map(({ id, name }) => ({ role: "tool", callId: id, name, text: "done", isError: false }) as const),
];

test.each(native)(
  "%s: a request's own warmth and length are before the settings', those before the model's",
  async (kind) => {
    const capabilities = { temperature: true, reasoning: false, maxOutputTokens: 2_222 };
    const name = kind === "responses" ? "gpt-4.1" : providerWires[kind].settings.name;
    const warmth = /temperature/;
    const length = /(?:max_output_tokens|max_tokens|maxOutputTokens|maxTokens)/;
    await using set = opened(kind, { name, temperature: 0.25, maxOutputTokens: 1_111, capabilities });
    await set.ask({ temperature: 0.75, maxOutputTokens: 777 });
    await set.ask();
    await using unset = opened(kind, { name, capabilities });
    await unset.ask();
    await using fixed = opened(kind, {
      name,
      temperature: 0.25,
      capabilities: { ...capabilities, temperature: false },
    });
    await fixed.ask({ temperature: 0.75 });
    const found = [...set.sent(), ...unset.sent(), ...fixed.sent()].map((body) => [
      said(body, warmth),
      said(body, length),
    ]);
    expect(found).toEqual([
      ["0.75", "777"],
      ["0.25", "1111"],
      [undefined, "2222"],
      [undefined, "2222"],
    ]);
  },
);

test.each(native)("%s: which tool is to be called is told, and a request without tools tells of none", async (kind) => {
  await using it = opened(kind, { capabilities: { reasoning: false } });
  for (const toolChoice of ["auto", "required", { name: "look" }, "none"] as const) await it.ask({ toolChoice });
  await it.ask({ tools: [] });
  await it.ask({ tools: [], toolChoice: "none" });
  const bodies = it.requests.map(
    ({ body }) => body.tool_choice ?? body.toolConfig?.functionCallingConfig ?? body.toolConfig?.toolChoice,
  );
  const expected: Record<Kind, unknown[]> = {
    responses: ["auto", "required", { type: "function", name: "look" }, "none"],
    anthropic: [{ type: "auto" }, { type: "any" }, { type: "tool", name: "look" }, { type: "none" }],
    google: [{ mode: "AUTO" }, { mode: "ANY" }, { mode: "ANY", allowedFunctionNames: ["look"] }, { mode: "NONE" }],
    // It cannot be told to call none.
    bedrock: [{ auto: {} }, { any: {} }, { tool: { name: "look" } }, { auto: {} }],
  };
  expect(bodies).toEqual([...expected[kind], undefined, undefined]);
  const names = it.sent().map((body) => ["The tool bash.", "The tool look."].map((text) => body.includes(text)));
  // Bedrock's SDK tells of no other tool than the one to be called.
  const [both, one] = [
    [true, true],
    [kind !== "bedrock", true],
  ];
  const none = [false, false];
  expect(names).toEqual([both, both, one, both, none, none]);
});

test.each(native)("%s: the form of an answer is told until the provider refuses it", async (kind) => {
  const answerSchema = {
    type: "object",
    properties: { only_in_answers: { type: "string" } },
    required: ["only_in_answers"],
    additionalProperties: false,
  };
  const refused = { status: 400, message: "json_schema is not supported by this model" };
  await using it = opened(kind, {}, [{ text: "{}" }, refused, { text: "{}" }, { text: "{}" }]);
  for (let n = 0; n < 3; n++) await it.ask({ tools: [], answerSchema });
  expect(it.sent().map((body) => body.includes("only_in_answers"))).toEqual([true, true, false, false]);
});

test.each(["responses", "google"] as const)(
  "%s: it thinks also in the midst of a turn that began without its thinking, and tells it if it does",
  async (kind) => {
    const call = { id: "call_a", name: "look", arguments: "{}" };
    const begun: ModelMessage[] = [
      ...request().messages,
      { role: "assistant", text: "", toolCalls: [call] },
      { role: "tool", callId: "call_a", name: "look", text: "seen", isError: false },
    ];
    await using thinking = opened(kind, { reasoningEffort: "low" });
    await thinking.ask();
    await thinking.ask({ messages: begun });
    await using quiet = opened(kind, { reasoningEffort: "none" });
    await quiet.ask();
    const told = [...thinking.sent(), ...quiet.sent()].map((body) =>
      said(body, kind === "google" ? /includeThoughts/ : /effort/),
    );
    expect(told).toEqual(kind === "google" ? ["true", "true", undefined] : ['"low"', '"low"', '"none"']);
  },
);

test.each(native)("%s: what one model signed goes back to it and to no other of its provider", async (kind) => {
  const thinking = { text: "I should look.", signature: "c2lnbmVk-by-the-first" };
  const calls = [{ id: "call_a", name: "bash", json: "{}" }];
  const settings = { reasoningEffort: "low" } as const;
  await using first = opened(kind, settings, [{ thinking, calls }, { text: "x" }, { thinking, text: "No.", calls }]);
  const messages = [...request().messages, ...turn(await first.ask())];
  await first.ask({ messages });
  await using other = opened(kind, { ...settings, name: `${providerWires[kind].settings.name}-other` });
  await other.ask({ messages });
  const isSent = (body: string | undefined) => body?.includes(thinking.signature);
  expect([isSent(first.sent()[1]), isSent(other.sent()[0])]).toEqual([true, false]);
  // Of an answer whose calls are not made, nothing is carried: it speaks of their places.
  const silent = await first.ask({ toolChoice: "none" });
  expect([silent.text, silent.toolCalls, "carried" in silent]).toEqual(["No.", [], false]);
});

test.each(native)(
  "%s: an image is seen by the model that sees, also where one that does not was asked before",
  async (kind) => {
    const image = { type: "image", mediaType: "image/png", data: png } as const;
    const call = { id: "call:a", name: "look", arguments: "{" };
    const messages: ModelMessage[] = [
      { role: "user", parts: [image] },
      { role: "assistant", text: " ", toolCalls: [call] },
      { role: "tool", callId: "call:a", name: "look", text: "", isError: true, images: [image] },
      { role: "assistant", text: "", toolCalls: [] },
      { role: "user", parts: [{ type: "text", text: " " }] },
    ];
    await using blind = opened(kind, { capabilities: { vision: false } });
    await blind.ask({ messages });
    await using seeing = opened(kind, { capabilities: { vision: true } });
    await seeing.ask({ messages });
    const counts = (text: string) => [...blind.sent(), ...seeing.sent()].map((body) => body.split(text).length - 1);
    expect([counts(png), counts("cannot see images")]).toEqual([
      [0, 2],
      [2, 0],
    ]);
    // No message is empty, an id has no characters that a provider refuses, and what cannot be read
    // is not lost.
    expect(counts("(nothing)").every((count) => count >= 2)).toBe(true);
    expect([counts("call:a"), counts("call_a").map((count) => count > 1)]).toEqual([
      [0, 0],
      [true, true],
    ]);
    expect(counts("unreadable")).toEqual([1, 1]);
  },
);

test("how closely a model looks at images is told where that can be", async () => {
  const messages: ModelMessage[] = [{ role: "user", parts: [{ type: "image", mediaType: "image/png", data: png }] }];
  const details: (string | undefined)[] = [];
  for (const imageDetail of ["low", "high", "auto"] as const) {
    await using it = opened("responses", { imageDetail, capabilities: { vision: true } });
    await it.ask({ messages });
    details.push(said(it.sent()[0], /detail/));
  }
  expect(details).toEqual(['"low"', '"high"', undefined]);
});

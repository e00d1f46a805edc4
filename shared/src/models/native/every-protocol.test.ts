import { describe, expect, test } from "bun:test";
import type { AppError } from "../../core/errors.ts";
import type { Carried, ModelEvent, ModelMessage, ModelReply, ModelRequest } from "../../core/model.ts";
import { type ProviderReply, startProvider } from "../../testing/models/provider-server.ts";
import { providerWires } from "../../testing/models/provider-wires.ts";
import { event } from "../../testing/models/wire.ts";
import type { ModelSettings } from "../config.ts";
import { createModel } from "../create-model.ts";

const key = "a-word-that-nobody-else-has";
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tools = [
  { name: "bash", description: "Runs.", inputSchema: { type: "object", properties: { n: { type: "number" } } } },
  { name: "look", description: "Looks.", inputSchema: { type: "object", properties: {} } },
];
const user = (text: string): ModelMessage => ({ role: "user", parts: [{ type: "text", text }] });
const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: "system", text: "You help." }, user("Hello")],
  tools,
  toolChoice: "auto",
  ...more,
});
const bash = { id: "call_a", name: "bash", json: '{"n": 1}' };
const look = { id: "call_b", name: "look", json: "{}" };

type Kind = keyof typeof providerWires;

/** A model of this protocol at a server that gives these replies. */
function opened(kind: Kind, replies: readonly ProviderReply[], settings: Partial<ModelSettings> = {}) {
  const wire = providerWires[kind];
  const server = startProvider(wire, replies);
  const capabilities = { vision: true, ...settings.capabilities };
  const fast = { maxRetries: 0, firstDeltaTimeoutMs: 2_000, idleTimeoutMs: 2_000 };
  const model = createModel(
    { ...wire.settings, baseUrl: server.baseUrl, apiKey: key, ...fast, ...settings, capabilities },
    { random: () => 0 },
  );
  return { ...server, model, [Symbol.asyncDispose]: () => server.close() };
}

type Opened = ReturnType<typeof opened>;

async function ask({ model }: Pick<Opened, "model">, asked = request(), signal = AbortSignal.timeout(10_000)) {
  const events: ModelEvent[] = [];
  for await (const event of model.ask(asked, { signal })) events.push(event);
  const last = events.at(-1);
  if (last?.type !== "reply") throw new Error("no reply");
  return { events, reply: last.reply };
}

const refusal = (asking: Promise<unknown>) =>
  asking.then(
    () => undefined,
    (error: unknown) => error as AppError,
  );

const kinds = Object.keys(providerWires) as Kind[];
const native: Kind[] = ["responses", "anthropic", "google", "bedrock"];

test("there are protocols to test", () => expect(kinds.length).toBe(6));

describe.each(kinds)("%s", (kind) => {
  const wire = providerWires[kind];

  test("an answer arrives in pieces, with its usage", async () => {
    await using provider = opened(kind, [
      { text: "Good day to you", tokens: { fresh: 7, cached: 0, written: 0, output: 4 } },
    ]);
    const { events, reply } = await ask(provider);
    const deltas = events.filter(({ type }) => type === "text-delta");
    expect(deltas.length).toBeGreaterThan(2);
    expect(deltas.map((delta) => (delta as { text: string }).text).join("")).toBe("Good day to you");
    expect(reply).toMatchObject({ text: "Good day to you", toolCalls: [], finish: "stop", model: wire.settings.name });
    expect(reply.usage).toMatchObject({ inputTokens: 7, cachedInputTokens: 0, outputTokens: 4, source: "provider" });
    expect(JSON.stringify(provider.requests[0]?.body)).toContain("You help.");
  });

  test("several calls of one turn keep their order, and their results go back together", async () => {
    await using provider = opened(kind, [{ text: "Let me see.", calls: [bash, look] }, { text: "Done" }]);
    const { events, reply } = await ask(provider);
    expect(reply.finish).toBe("tool-calls");
    expect(reply.toolCalls.map(({ name }) => name)).toEqual(["bash", "look"]);
    expect(JSON.parse(reply.toolCalls[0]?.arguments ?? "")).toEqual({ n: 1 });
    expect(events.some((event) => event.type === "tool-call-delta" && event.name === "bash")).toBeTrue();
    await ask(provider, request({ messages: [...request().messages, ...turn(reply)] }));
    const sent = JSON.stringify(provider.requests[1]?.body);
    for (const told of ["result of bash", "result of look", "Let me see."]) expect(sent).toContain(told);
  });

  test("images are sent as such, those of a tool too", async () => {
    await using provider = opened(kind, [{ text: "Seen" }]);
    const image = { type: "image", mediaType: "image/png", data: png } as const;
    const call = { id: "call_a", name: "look", arguments: "{}" };
    await ask(
      provider,
      request({
        messages: [
          { role: "user", parts: [{ type: "text", text: "What is it?" }, image] },
          { role: "assistant", text: "", toolCalls: [call] },
          { role: "tool", callId: "call_a", name: "look", text: "a picture", isError: false, images: [image] },
        ],
      }),
    );
    expect(JSON.stringify(provider.requests[0]?.body).split(png).length - 1).toBe(2);
  });

  test("where the model takes text only, a note says where an image was", async () => {
    await using provider = opened(kind, [{ text: "Not seen" }], { capabilities: { vision: false } });
    const image = { type: "image", mediaType: "image/png", data: png } as const;
    await ask(provider, request({ messages: [{ role: "user", parts: [image] }] }));
    expect(JSON.stringify(provider.requests[0]?.body)).not.toContain(png);
    expect(JSON.stringify(provider.requests[0]?.body)).toContain("this model cannot see images");
  });

  test("tokens read from a cache are part of the input", async () => {
    await using provider = opened(kind, [{ text: "x", tokens: { fresh: 100, cached: 900, written: 0, output: 1 } }], {
      price: { inputPerMillion: 10, cachedInputPerMillion: 1, outputPerMillion: 0 },
    });
    const { reply } = await ask(provider);
    expect(reply.usage).toMatchObject({ inputTokens: 1_000, cachedInputTokens: 900 });
    expect(reply.usage.costUsd).toBeCloseTo(0.0019, 8);
  });

  test("an answer that its limit cut off says so", async () => {
    await using provider = opened(kind, [{ text: "It goes on and", isCut: true }]);
    expect((await ask(provider)).reply).toMatchObject({ text: "It goes on and", finish: "length" });
  });

  // Gemini has no word for it.
  if (kind !== "google") {
    test("a model that refuses says so, and why", async () => {
      await using provider = opened(kind, [{ refusal: "I cannot help with that." }]);
      const { events, reply } = await ask(provider);
      expect(reply).toMatchObject({ text: "I cannot help with that.", toolCalls: [], refused: true, finish: "stop" });
      const told = events.map((event) => (event.type === "text-delta" ? event.text : ""));
      expect(told.join("")).toBe("I cannot help with that.");
    });
  }

  test("a rate limit waits as long as the provider asks, and then is over", async () => {
    const limited = { status: 429, message: "slow down", headers: { "retry-after": "0.05" } };
    await using provider = opened(kind, [limited, { text: "Now" }], { maxRetries: 1 });
    const { events, reply } = await ask(provider);
    expect(events[0]).toMatchObject({
      type: "retry",
      attempt: 1,
      waitMs: 50,
      cause: expect.stringContaining("slow down"),
    });
    expect(reply.text).toBe("Now");
    expect(provider.requests.length).toBe(2);
  });

  test("retries are ours alone: without them, an outage is one request", async () => {
    await using provider = opened(kind, [{ status: 503, message: "overloaded" }, { text: "never" }]);
    const error = await refusal(ask(provider));
    expect(error).toMatchObject({ code: "model_unavailable", message: expect.stringContaining("overloaded") });
    expect(provider.requests.length).toBe(1);
  });

  test("a key that is refused fails at once, and is in no error", async () => {
    await using provider = opened(kind, [{ status: 401, message: `wrong key ${key} given` }], { maxRetries: 2 });
    const error = await refusal(ask(provider));
    expect(String(error?.message) + Bun.inspect(error)).not.toContain(key);
    expect(error).toMatchObject({ code: "model_rejected", message: expect.stringContaining("llm.api_key") });
    expect(provider.requests.length).toBe(1);
  });

  test("a prompt that is too long is told by its own code", async () => {
    const { status, message } = wire.overflow;
    await using provider = opened(kind, [{ status, message }], { maxRetries: 2 });
    expect(await refusal(ask(provider))).toMatchObject({ code: "context_overflow" });
    expect(provider.requests.length).toBe(1);
  });

  test("a server that is not there was not reached", async () => {
    const provider = opened(kind, []);
    await provider.close();
    const error = await refusal(ask(provider));
    expect(error).toMatchObject({ code: "model_unavailable", wasReached: false });
  });

  test("an abort ends the answer with its reason and closes the connection", async () => {
    await using provider = opened(kind, [{ text: "one two three four", stallAfter: 4 }]);
    const reason = new Error("canceled by the user");
    const canceling = new AbortController();
    const asking = (async () => {
      for await (const event of provider.model.ask(request(), { signal: canceling.signal }))
        if (event.type === "text-delta") canceling.abort(reason);
    })();
    expect(await refusal(asking)).toBe(reason as AppError);
    await dropped(provider);
  });

  test("an answer that falls silent is given up and its connection closed", async () => {
    await using provider = opened(kind, [{ text: "one two three four", stallAfter: 4 }], { idleTimeoutMs: 60 });
    const error = await refusal(ask(provider));
    expect(error).toMatchObject({ code: "model_unavailable", message: expect.stringContaining("stalled for 60 ms") });
    await dropped(provider);
  });

  test("a server that never begins is given up", async () => {
    await using provider = opened(kind, [{ text: "one", stallAfter: 0 }], { firstDeltaTimeoutMs: 60 });
    expect(await refusal(ask(provider))).toMatchObject({ message: expect.stringContaining("stalled for 60 ms") });
  });

  // The others begin with the answer itself.
  if (kind === "responses" || kind === "anthropic" || kind === "bedrock") {
    test("a server that only announces its answer may take as long as one that has not begun", async () => {
      const silences = { idleTimeoutMs: 30, firstDeltaTimeoutMs: 200 };
      await using provider = opened(kind, [{ text: "one", stallAfter: 1 }], silences);
      expect(await refusal(ask(provider))).toMatchObject({ message: expect.stringContaining("stalled for 200 ms") });
    });
  }

  test("an answer that breaks off is asked for again", async () => {
    await using provider = opened(kind, [{ text: "one two three four", cutAfter: 4 }, { text: "whole" }], {
      maxRetries: 1,
    });
    const { events, reply } = await ask(provider);
    expect(events.some(({ type }) => type === "retry")).toBeTrue();
    expect(reply.text).toBe("whole");
  });

  test("a turn that must not call a tool calls none", async () => {
    await using provider = opened(kind, [{ text: "As asked.", calls: [bash] }]);
    const call = { id: "call_a", name: "look", arguments: "{}" };
    const { reply } = await ask(
      provider,
      request({
        toolChoice: "none",
        messages: [
          ...request().messages,
          { role: "assistant", text: "", toolCalls: [call] },
          { role: "tool", callId: "call_a", name: "look", text: "seen", isError: false },
        ],
      }),
    );
    expect(reply.text).toBe("As asked.");
    // The conversation stays as it was: its tools are still named.
    expect(JSON.stringify(provider.requests[0]?.body)).toContain("Looks.");
  });

  test("no key travels but as the provider's own", async () => {
    await using provider = opened(kind, [{ text: "x" }]);
    await ask(provider);
    const [sent] = provider.requests;
    const carrying = [...(sent?.headers ?? [])].filter(([, value]) => value.includes(key)).map(([name]) => name);
    expect(carrying).toEqual([
      {
        openai: "authorization",
        azure: "api-key",
        responses: "authorization",
        anthropic: "x-api-key",
        google: "x-goog-api-key",
        bedrock: "authorization",
      }[kind],
    ]);
    expect(`${sent?.path}${JSON.stringify(sent?.body)}`).not.toContain(key);
  });
});

test.each(kinds.filter((kind) => kind !== "google"))(
  "%s: arguments that are not JSON reach the tool as written",
  async (kind) => {
    await using provider = opened(kind, [{ calls: [{ ...bash, json: '{"n": oops' }] }, { text: "Again" }]);
    const { reply } = await ask(provider);
    expect(reply.toolCalls[0]?.arguments).toBe('{"n": oops');
    await ask(provider, request({ messages: [...request().messages, ...turn(reply)] }));
    expect(provider.requests.length).toBe(2);
  },
);

test.each(native)("%s: what it signed goes back in its place, after a restart too", async (kind) => {
  const thinking = { text: "I should look first.", signature: "c2lnbmVk-by-the-provider" };
  await using provider = opened(kind, [{ thinking, text: "Let me see.", calls: [bash, look] }, { text: "Done" }], {
    reasoningEffort: "low",
  });
  const { events, reply } = await ask(provider);
  if (kind !== "responses") expect(reply.reasoning).toBe(thinking.text);
  if (kind !== "responses") expect(events.some(({ type }) => type === "reasoning-delta")).toBeTrue();
  const restored = JSON.parse(JSON.stringify(reply)) as ModelReply;
  await ask(provider, request({ messages: [...request().messages, ...turn(restored)] }));
  const sent = JSON.stringify(provider.requests[1]?.body);
  expect(sent.split(thinking.signature).length - 1).toBe(1);
  const places =
    kind === "google" ? ["Let me see.", '"bash"', thinking.signature] : [thinking.signature, "Let me see.", "call_a"];
  // Google signs the first call, the others the thinking that comes before everything.
  const found = places.map((place) => sent.indexOf(place, sent.indexOf("Hello")));
  expect(found.every((at) => at > 0)).toBeTrue();
  if (kind !== "google") expect(found).toEqual(found.toSorted((a, b) => a - b));
});

test.each(native)("%s: what another model signed does not reach it", async (kind) => {
  await using provider = opened(kind, [{ text: "Done" }]);
  const carried: Carried = {
    of: "other model",
    parts: [{ type: "reasoning", text: "hm", options: { x: { signature: "foreign" } } }],
  };
  await ask(
    provider,
    request({ messages: [user("Hello"), { role: "assistant", text: "Hi", toolCalls: [], carried }, user("And?")] }),
  );
  expect(JSON.stringify(provider.requests[0]?.body)).not.toContain("foreign");
});

test.each(["anthropic", "bedrock"] as const)(
  "%s: in the midst of a turn that began without its thinking it does not think",
  async (kind) => {
    await using provider = opened(kind, [{ text: "a" }, { text: "b" }], { reasoningEffort: "low" });
    await ask(provider);
    const call = { id: "call_a", name: "look", arguments: "{}" };
    await ask(
      provider,
      request({
        messages: [
          ...request().messages,
          { role: "assistant", text: "", toolCalls: [call] },
          { role: "tool", callId: "call_a", name: "look", text: "seen", isError: false },
        ],
      }),
    );
    const [first, second] = provider.requests.map(({ body }) => JSON.stringify(body));
    expect(first).toContain("thinking");
    expect(second).not.toContain("thinking");
  },
);

test.each(["anthropic", "bedrock"] as const)(
  "%s: what stays the same is marked for the cache, and the tail is not",
  async (kind) => {
    await using provider = opened(
      kind,
      [{ text: "x", tokens: { fresh: 10, cached: 500, written: 490, output: 1 } }, { text: "y" }],
      { price: { inputPerMillion: 10, cachedInputPerMillion: 1, cacheWritePerMillion: 12.5, outputPerMillion: 0 } },
    );
    const call = { id: "call_a", name: "look", arguments: "{}" };
    const result = { role: "tool", callId: "call_a", name: "look", text: "the result", isError: false } as const;
    const messages: ModelMessage[] = [
      ...request().messages,
      { role: "assistant", text: "", toolCalls: [call] },
      result,
      user("a hint"),
    ];
    const { reply } = await ask(provider, request({ messages, stableMessages: 4 }));
    expect(reply.usage).toMatchObject({ inputTokens: 1_000, cachedInputTokens: 500, cacheWriteTokens: 490 });
    expect(reply.usage.costUsd).toBeCloseTo((10 * 10 + 500 + 490 * 12.5) / 1_000_000, 9);
    const { system, messages: sent } = provider.requests[0]?.body ?? {};
    const isMarked = (value: unknown) => /cache_control|cachePoint/.test(JSON.stringify(value));
    expect(isMarked(system)).toBeTrue();
    expect(sent.map((message: unknown) => isMarked(message))).toEqual([true, false, true]);
    const last = sent.at(-1).content;
    expect(JSON.stringify(last.at(-1))).toContain("a hint");
    expect(isMarked(last.at(-1))).toBeFalse();
    // A request that no other continues pays for no cache.
    await ask(provider, request({ messages }));
    expect(isMarked(provider.requests[1]?.body)).toBeFalse();
  },
);

test("a model that refuses marks is asked without them from then on", async () => {
  const refused = {
    status: 400,
    message: "You invoked an unsupported model or your request did not allow prompt caching.",
  };
  await using provider = opened("bedrock", [refused, { text: "a" }, { text: "b" }]);
  await ask(provider, request({ stableMessages: 2 }));
  await ask(provider, request({ stableMessages: 2 }));
  expect(provider.requests.map(({ body }) => JSON.stringify(body).includes("cachePoint"))).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  ["overloaded_error", "Overloaded", "model_unavailable"],
  ["rate_limit_error", "Too many", "rate_limited"],
])("an error within an answer ends it: %s", async (type, message, code) => {
  const lastFrame = event({ type: "error", error: { type, message } } as never);
  await using provider = opened("anthropic", [{ text: "one two three", cutAfter: 4, lastFrame }]);
  const error = await refusal(ask(provider));
  // Its sentence alone, not the object that it came in.
  expect([error?.code, error?.message.includes(message), error?.message.includes("{")]).toEqual([
    code as AppError["code"],
    true,
    false,
  ]);
});

test("Gemini's limit by the minute, which it calls a quota, waits as long as its details say", async () => {
  const message = "You exceeded your current quota, please check your plan.";
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.03s" }];
  const body = { error: { code: 429, message, status: "RESOURCE_EXHAUSTED", details } };
  await using provider = opened("google", [{ status: 429, body }, { text: "Now" }], { maxRetries: 1 });
  const { events } = await ask(provider);
  expect(events[0]).toMatchObject({ type: "retry", waitMs: 30 });
});

test("Responses leaves nothing at the provider", async () => {
  await using provider = opened("responses", [{ text: "x" }]);
  await ask(provider);
  expect(provider.requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
});

test("a request to Bedrock is signed for its region with the credentials of the environment", async () => {
  const before = { ...process.env };
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI" });
  try {
    await using provider = opened("bedrock", [{ text: "x" }], { apiKey: "bear" });
    await ask(provider);
    const signature = provider.requests[0]?.headers.get("authorization");
    expect(signature).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-west-2\/bedrock\/aws4_request/);
    expect(provider.requests[0]?.path).toBe("/model/us.anthropic.claude-3-7-sonnet-20250219-v1%3A0/converse-stream");
  } finally {
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test.each(native)(
  "%s: a request's own bounds are before the settings', and schemas go without their dialect",
  async (kind) => {
    const dialect = "https://json-schema.org/draft/2020-12/schema";
    await using provider = opened(kind, [{ text: "x" }], { maxOutputTokens: 1_111 });
    const answerSchema = { type: "object", properties: { only_in_answers: { type: "string" } } };
    const own = tools.map((tool) => ({ ...tool, inputSchema: { $schema: dialect, ...tool.inputSchema } }));
    await ask(provider, request({ tools: own, maxOutputTokens: 777, answerSchema }));
    const sent = JSON.stringify(provider.requests[0]?.body);
    expect(["777", "1111", dialect, "only_in_answers"].map((text) => sent.includes(text))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  },
);

test.each(native)("%s: calls of a model that must not call are none", async (kind) => {
  await using provider = opened(kind, [{ text: "Let me see.", calls: [bash] }]);
  const { reply } = await ask(provider, request({ toolChoice: "none" }));
  expect([reply.text, reply.toolCalls, reply.finish]).toEqual(["Let me see.", [], "stop"]);
});

test("a model that is to make one call at a time is told so, and one that cannot be forced is not", async () => {
  const one = { capabilities: { parallelToolCalls: false } };
  await using claude = opened("anthropic", [{ text: "x" }], one);
  await ask(claude);
  expect(claude.requests[0]?.body.tool_choice).toMatchObject({ disable_parallel_tool_use: true });
  await using openAi = opened("responses", [{ text: "x" }], one);
  await ask(openAi);
  expect(openAi.requests[0]?.body).toMatchObject({ parallel_tool_calls: false });
  const refused = { status: 400, message: "tool_choice: forced calls are not supported" };
  await using forced = opened("anthropic", [refused, { text: "x" }]);
  await ask(forced, request({ toolChoice: "required" }));
  expect(forced.requests.map(({ body }) => body.tool_choice.type)).toEqual(["any", "auto"]);
});

test("the greatest effort is the greatest that the protocol has", async () => {
  await using provider = opened("responses", [{ text: "x" }], { reasoningEffort: "max" });
  await ask(provider);
  expect(provider.requests[0]?.body.reasoning).toMatchObject({ effort: "xhigh" });
});

/** A turn with these calls, and a result for each. */
function turn({ text, toolCalls, carried }: ModelReply): ModelMessage[] {
  return [
    { role: "assistant", text, toolCalls, ...(carried && { carried }) },
    ...toolCalls.map(
      ({ id, name }) => ({ role: "tool", callId: id, name, text: `result of ${name}`, isError: false }) as const,
    ),
  ];
}

async function dropped({ requests }: Opened): Promise<void> {
  const until = performance.now() + 5_000;
  while (requests[0]?.dropped !== true && performance.now() < until) await Bun.sleep(5);
  expect(requests[0]?.dropped).toBeTrue();
}

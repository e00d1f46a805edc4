import { afterEach, expect, test } from "bun:test";
import type { AppError } from "../core/errors.ts";
import type { Model, ModelEvent, ModelRequest } from "../core/model.ts";
import { withinTrace } from "../core/trace.ts";
import { reply } from "../testing/models/reply.ts";
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from "../testing/models/scripted-model.ts";
import type { Clock } from "./clock.ts";
import { modelConfigSchema } from "./config.ts";
import { createModel, type ModelOptions } from "./create-model.ts";
import { estimateTokens } from "./tokens.ts";

const running: ScriptedModel[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function scripted(...args: Parameters<typeof startScriptedModel>): Promise<ScriptedModel> {
  const server = await startScriptedModel(...args);
  running.push(server);
  return server;
}

const request: ModelRequest = {
  messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
  tools: [{ name: "bash", description: "Runs a command.", inputSchema: { type: "object" } }],
  toolChoice: "auto",
};
const never = new AbortController().signal;
const secret = "sk-test-0123456789abcdef";

/** A clock that records its waits and takes no time for them. */
function quickClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => Date.now(),
    async sleep(ms, signal) {
      signal.throwIfAborted();
      waits.push(ms);
    },
  };
}

function modelAt(url: string, config: object = {}, deps: ModelOptions = {}): Model {
  const parsed = modelConfigSchema.parse({ name: "scripted", baseUrl: url, apiKey: secret, ...config });
  return createModel(parsed, { clock: quickClock(), random: () => 1, ...deps });
}

async function eventsOf(model: Model, signal = never): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.ask(request, { signal })) events.push(event);
  return events;
}

function failureOf(model: Model, signal = never): Promise<AppError> {
  return reply(model, request, { signal }).then(
    (answer) => Promise.reject(new Error(`expected a failure, got ${JSON.stringify(answer)}`)),
    (error: AppError) => error,
  );
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error("did not come true within 5 s");
    await Bun.sleep(5);
  }
}

test("an answer streams word by word, with reasoning separate, and then comes whole with the provider's usage and a price", async () => {
  const server = await scripted([
    {
      reasoning: "let me think",
      text: "Grüße aus Köln 👋",
      usage: { prompt_tokens: 1000, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 400 } },
    },
  ]);
  const price = { inputPerMillion: 10, cachedInputPerMillion: 1, outputPerMillion: 20 };
  const events = await eventsOf(modelAt(server.url, { price }));
  const told = (type: string) =>
    events.flatMap((event) => (event.type === type && "text" in event ? [event.text] : []));
  expect(told("text-delta")).toEqual(["Grüße", " aus", " Köln", " 👋"]);
  expect(told("reasoning-delta").join("")).toBe("let me think");
  expect(events.at(-1)).toEqual({
    type: "reply",
    reply: {
      text: "Grüße aus Köln 👋",
      reasoning: "let me think",
      toolCalls: [],
      finish: "stop",
      usage: {
        inputTokens: 1000,
        cachedInputTokens: 400,
        outputTokens: 100,
        costUsd: (600 * 10 + 400 * 1 + 100 * 20) / 1_000_000,
        source: "provider",
      },
      model: "scripted",
    },
  });
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  expect(server.requests[0]?.state).toBe("answered");
});

test("a server without usage gives an estimate, and an unknown price is null and never 0", async () => {
  const server = await scripted([{ text: "one two three" }]);
  const { usage } = await reply(modelAt(server.url), request, { signal: never });
  expect(usage.source).toBe("estimate");
  expect(usage.inputTokens).toBeGreaterThan(0);
  expect(usage.outputTokens).toBeGreaterThan(0);
  expect(usage.costUsd).toBeNull();
});

test("parallel tool calls are emitted as they arrive; missing and repeated ids become distinct ones", async () => {
  const calls = [
    { name: "bash", args: { command: "ls" } },
    { id: "a", name: "bash", args: { command: "pwd" } },
    { id: "a", name: "bash", args: {} },
  ];
  const server = await scripted([{ text: "Looking.", calls }]);
  const events = await eventsOf(modelAt(server.url));
  const last = events.at(-1);
  if (last?.type !== "reply") throw new Error("the last event is the reply");
  expect(last.reply.finish).toBe("tool-calls");
  expect(last.reply.toolCalls).toEqual([
    { id: "call_1", name: "bash", arguments: '{"command":"ls"}' },
    { id: "a", name: "bash", arguments: '{"command":"pwd"}' },
    { id: "a_3", name: "bash", arguments: "{}" },
  ]);
  const written = events.flatMap((event) =>
    event.type === "tool-call-delta" && event.index === 1 ? [event.arguments] : [],
  );
  expect(written.join("")).toBe('{"command":"pwd"}');
});

test("200 calls in one turn and broken arguments reach the caller unchanged", async () => {
  const calls = Array.from({ length: 200 }, (_, n) => ({
    name: n === 7 ? "no_such_tool" : "bash",
    rawArguments: `{"n": ${n},`,
  }));
  const server = await scripted([{ calls }]);
  const { toolCalls } = await reply(modelAt(server.url), request, { signal: never });
  expect(toolCalls).toHaveLength(200);
  expect(new Set(toolCalls.map((call) => call.id)).size).toBe(200);
  expect(toolCalls[7]).toEqual({ id: "call_8", name: "no_such_tool", arguments: '{"n": 7,' });
});

test("a stream that stalls in mid-answer is closed, retried and counted once", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2 };
  const server = await scripted([
    { text: "half an answer", stallAfter: 2 },
    { text: "the whole answer", usage },
  ]);
  const events = await eventsOf(modelAt(server.url, { idleTimeoutMs: 100 }));
  expect(events.filter((event) => event.type === "retry")).toEqual([
    { type: "retry", attempt: 1, waitMs: 500, cause: "the answer stalled for 100 ms" },
  ]);
  expect(events.at(-1)).toMatchObject({
    reply: { text: "the whole answer", usage: { inputTokens: 10, outputTokens: 2 } },
  });
  await until(() => server.requests[0]?.state === "dropped");
});

test("a server that never starts to answer is given up after the time for a first delta", async () => {
  const server = await scripted(() => ({ text: "x", stallAfter: 0 }));
  const error = await failureOf(modelAt(server.url, { firstDeltaTimeoutMs: 1_000, maxRetries: 1 }));
  expect(error.code).toBe("model_unavailable");
  expect(server.requests).toHaveLength(2);
});

test("nothing but the configured time ends a silence: Bun's fetch is told not to give up after its five minutes", async () => {
  const server = await scripted([{ text: "Hi." }]);
  const told: unknown[] = [];
  const fetch = Object.assign((input: string | URL | Request, init?: BunFetchRequestInit) => {
    told.push(init?.timeout);
    return globalThis.fetch(input, init);
  }, globalThis.fetch);
  await eventsOf(modelAt(server.url, {}, { fetch }));
  expect(told).toEqual([false]);
});

test("a stream that ends without a finish reason is retried once and then counts as cut off", async () => {
  const server = await scripted(() => ({
    text: "Working on",
    calls: [
      { name: "bash", args: { command: "ls" } },
      { name: "bash", args: { command: "rm -r build && make" } },
    ],
    cutAfter: 6,
  }));
  const events = await eventsOf(modelAt(server.url));
  expect(server.requests).toHaveLength(2);
  expect(events.filter((event) => event.type === "retry")).toHaveLength(1);
  // The second call's arguments are incomplete, so it is left out.
  expect(events.at(-1)).toMatchObject({
    reply: { finish: "length", text: "Working on", toolCalls: [{ name: "bash", arguments: '{"command":"ls"}' }] },
  });
});

test("an answer cut off by its token limit says so and is not requested again", async () => {
  const server = await scripted([{ text: "and so on and", finish: "length" }]);
  expect(await reply(modelAt(server.url), request, { signal: never })).toMatchObject({ finish: "length" });
});

test("a connection reset in mid-answer discards what arrived and is retried", async () => {
  const server = await scripted([{ text: "gone with the wind", resetAfter: 2 }, { text: "here" }]);
  const events = await eventsOf(modelAt(server.url));
  expect(events.map((event) => event.type)).toEqual(["text-delta", "text-delta", "retry", "text-delta", "reply"]);
});

const passing: [string, ScriptedReply, number][] = [
  ["retry-after in seconds", { status: 429, headers: { "retry-after": "7" } }, 7500],
  ["retry-after-ms", { status: 429, headers: { "retry-after-ms": "1200", "retry-after": "9" } }, 1700],
  ["a 500", { status: 500 }, 500],
  ["a 503", { status: 503 }, 500],
  ["a 408", { status: 408 }, 500],
  ["an error inside the stream", { events: ['{"error":{"message":"overloaded","code":502}}'] }, 500],
  ["a chunk that is no JSON", { events: ["{nonsense"] }, 500],
  ["a chunk that is no completion", { events: ['{"choices":7}'] }, 500],
  ["an empty stream", { events: [] }, 500],
];
test.each(passing)("%s is waited out and retried", async (_, first, waitMs) => {
  const server = await scripted([first, { text: "ok" }]);
  const clock = quickClock();
  expect((await reply(modelAt(server.url, {}, { clock }), request, { signal: never })).text).toBe("ok");
  expect(clock.waits).toEqual([waitMs]);
});

test("a Retry-After date is respected, but not one too far away", async () => {
  const inTenSeconds = new Date(Date.now() + 10_000).toUTCString();
  const soon = await scripted([{ status: 429, headers: { "retry-after": inTenSeconds } }, { text: "ok" }]);
  const clock = quickClock();
  await reply(modelAt(soon.url, {}, { clock }), request, { signal: never });
  expect(clock.waits[0]).toBeWithin(8000, 10_501);
  const late = await scripted([{ status: 429, headers: { "retry-after": "3600" } }]);
  expect((await failureOf(modelAt(late.url))).code).toBe("rate_limited");
  expect(late.requests).toHaveLength(1);
});

test("retries are limited, and each waits longer than the one before", async () => {
  const server = await scripted(() => ({ status: 503 }));
  const clock = quickClock();
  expect((await failureOf(modelAt(server.url, { maxRetries: 3 }, { clock }))).code).toBe("model_unavailable");
  expect(clock.waits).toEqual([500, 1000, 2000]);
});

const final: [string, ScriptedReply, string][] = [
  ["a bad request", { status: 400, error: { message: "tools.0: bad schema" } }, "model_rejected"],
  ["a wrong key", { status: 401, error: { message: `Incorrect API key provided: ${secret}` } }, "model_rejected"],
  ["a forbidden model", { status: 403, error: { message: "no access" } }, "model_rejected"],
  ["an unknown model", { status: 404, error: { message: "The model `scripted` does not exist" } }, "model_rejected"],
  [
    "an empty account",
    { status: 429, error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
    "model_rejected",
  ],
  [
    "too long a context",
    {
      status: 400,
      error: { message: "This model's maximum context length is 8192 tokens", code: "context_length_exceeded" },
    },
    "context_overflow",
  ],
  ["a request too large", { status: 413, error: { message: "too large" } }, "context_overflow"],
];
test.each(final)("%s is not retried and keeps the provider's message", async (_, answer, code) => {
  const server = await scripted(() => answer);
  const error = await failureOf(modelAt(server.url));
  expect(error.code).toBe(code as AppError["code"]);
  expect(server.requests).toHaveLength(1);
  expect(error.message).toContain(answer.error?.message.replace(secret, "[key]") ?? "nothing");
  expect(error.message).not.toContain("0123456789");
});

test("a key never appears in errors, retry events or the log", async () => {
  const message = `upstream refused Authorization: Bearer ${secret} (key sk-other-99999999)`;
  const server = await scripted(() => ({ status: 500, error: { message } }));
  const log: unknown[] = [];
  const logger = { warn: (...entry: unknown[]) => void log.push(entry) };
  const model = modelAt(server.url, { maxRetries: 1 }, { logger });
  const events: ModelEvent[] = [];
  const error = await (async () => {
    for await (const event of model.ask(request, { signal: never })) events.push(event);
  })().catch((failure: unknown) => failure);
  const everything = Bun.inspect([error, events, log, model], { depth: 9 });
  expect(everything).toContain("upstream refused");
  expect(everything).not.toContain(secret);
  expect(everything).not.toContain("99999999");
});

test("a key of no known look is in no error either", async () => {
  const apiKey = "own-gateway-4711";
  const server = await scripted(() => ({ status: 401, error: { message: `nobody has the key ${apiKey}` } }));
  const { message } = await failureOf(modelAt(server.url, { apiKey }));
  expect(message).toContain("nobody has the key [key]");
});

test("until an answer has begun the longer silence is allowed, whatever else has come", async () => {
  const silences = { idleTimeoutMs: 200, firstDeltaTimeoutMs: 60_000, maxRetries: 0 };
  // Its headers come late.
  const late = await scripted([{ text: "late", delayMs: 500 }]);
  expect((await reply(modelAt(late.url, silences), request, { signal: never })).text).toBe("late");
  const chunk = (choice: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`;
  const body = () =>
    new ReadableStream<string>({
      async start(stream) {
        // A role says nothing yet.
        stream.enqueue(chunk({ delta: { role: "assistant" } }));
        await Bun.sleep(500);
        stream.enqueue(chunk({ delta: { content: "slow" }, finish_reason: "stop" }));
        stream.close();
      },
    }).pipeThrough(new TextEncoderStream());
  const fetch = async () => new Response(body(), { headers: { "content-type": "text/event-stream" } });
  const slow = modelAt("http://127.0.0.1:9/v1", silences, { fetch: fetch as unknown as typeof globalThis.fetch });
  expect((await reply(slow, request, { signal: never })).text).toBe("slow");
});

test("what an answer wrote to its provider's cache is counted, at its price", async () => {
  const details = { cached_tokens: 100, cache_write_tokens: 300 };
  const usage = { prompt_tokens: 1_000, completion_tokens: 0, prompt_tokens_details: details };
  const server = await scripted([{ text: "ok", usage }]);
  const price = { inputPerMillion: 10, cachedInputPerMillion: 1, cacheWritePerMillion: 20, outputPerMillion: 0 };
  const answer = await reply(modelAt(server.url, { price }), request, { signal: never });
  expect(answer.usage).toMatchObject({
    cacheWriteTokens: 300,
    costUsd: (600 * 10 + 100 * 1 + 300 * 20) / 1_000_000,
  });
});

test("an abort in mid-stream closes the upstream connection and rejects with the signal's own reason", async () => {
  const server = await scripted([{ text: "one two three four", stallAfter: 2 }]);
  const controller = new AbortController();
  const reason = new Error("the task was canceled");
  const seen: ModelEvent[] = [];
  const asking = (async () => {
    for await (const event of modelAt(server.url).ask(request, { signal: controller.signal })) {
      seen.push(event);
      if (seen.length === 2) controller.abort(reason);
    }
  })();
  expect(await asking.catch((error: unknown) => error)).toBe(reason);
  expect(seen.map((event) => event.type)).toEqual(["text-delta", "text-delta"]);
  await until(() => server.requests[0]?.state === "dropped");
});

test("an abort before the answer, during a back-off or before the call rejects with the reason", async () => {
  const server = await scripted((_, n) => (n === 0 ? { text: "x", stallAfter: 0 } : { status: 500 }));
  const waiting = new AbortController();
  const first = failureOf(modelAt(server.url), waiting.signal);
  await until(() => server.requests.length === 1);
  waiting.abort("while waiting");
  expect((await first) as unknown).toBe("while waiting");
  const backingOff = new AbortController();
  const clock: Clock = {
    now: () => 0,
    sleep: (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        backingOff.abort("while backing off");
      }),
  };
  expect((await failureOf(modelAt(server.url, {}, { clock }), backingOff.signal)) as unknown).toBe("while backing off");
  expect((await failureOf(modelAt(server.url), AbortSignal.abort("before"))) as unknown).toBe("before");
  expect(server.requests).toHaveLength(2);
});

test("a reader that leaves early closes the upstream connection", async () => {
  const server = await scripted([{ text: "one two three four", stallAfter: 2 }]);
  for await (const _ of modelAt(server.url).ask(request, { signal: never })) break;
  await until(() => server.requests[0]?.state === "dropped");
});

test("the fallback model answers under its own name if the first stays unavailable, and not if the first refuses", async () => {
  const away = await scripted(() => ({ status: 503 }));
  const other = await scripted([{ text: "from the other" }]);
  const fallback = { name: "other", baseUrl: other.url };
  const events = await eventsOf(modelAt(away.url, { maxRetries: 1, fallback }));
  expect(away.requests).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({ reply: { text: "from the other", model: "other" } });
  expect(events.findLast((event) => event.type === "retry")).toMatchObject({
    cause: expect.stringContaining("other takes over"),
  });
  expect(other.requests[0]?.headers.authorization).toBeUndefined();
  const refusing = await scripted(() => ({ status: 401 }));
  expect((await failureOf(modelAt(refusing.url, { fallback }))).code).toBe("model_rejected");
  expect(other.requests).toHaveLength(1);
});

test("an answer is no longer than the settings say, whatever is asked for, nor than the fallback can make it", async () => {
  const away = await scripted(() => ({ status: 503 }));
  const other = await scripted([{ text: "hi" }]);
  const fallback = { name: "other", baseUrl: other.url, capabilities: { maxOutputTokens: 300 } };
  const model = modelAt(away.url, { maxRetries: 0, maxOutputTokens: 500, fallback });
  // Of an unknown model it is not known how long its answers may be: the settings say it.
  expect(model.capabilities.maxOutputTokens).toBe(500);
  expect(modelAt(away.url, { maxOutputTokens: 20_000 }).capabilities.maxOutputTokens).toBe(20_000);
  await reply(model, { ...request, maxOutputTokens: 8_000 }, { signal: never });
  const asked = [away, other].map(({ requests }) => requests[0]?.body.max_tokens);
  expect(asked).toEqual([500, 300]);
});

test("each retry and the fallback are told with their number and wait, and logged", async () => {
  const away = await scripted(() => ({ status: 503, error: { message: "busy" } }));
  const other = await scripted([{ text: "from the other" }]);
  const logged: unknown[] = [];
  const logger = { warn: (...entry: unknown[]) => void logged.push(entry) };
  const fallback = { name: "other", baseUrl: other.url };
  const events = await eventsOf(modelAt(away.url, { maxRetries: 1, fallback }, { logger }));
  const cause = expect.stringContaining("busy");
  expect(events.filter(({ type }) => type === "retry")).toEqual([
    { type: "retry", attempt: 1, waitMs: 500, cause },
    { type: "retry", attempt: 2, waitMs: 0, cause: expect.stringMatching(/busy.*; other takes over$/) },
  ]);
  expect(logged).toEqual([
    [{ model: "scripted", attempt: 1, waitMs: 500, cause }, "the model is asked again"],
    [{ model: "scripted", fallback: "other", cause }, "the fallback model takes over"],
  ]);
});

test("an error names the model and its provider, which is its host unless the settings name it", async () => {
  const server = await scripted(() => ({ status: 401, error: { message: "bad key" } }));
  for (const [config, provider] of [
    [{}, new URL(server.url).host],
    [{ provider: "acme" }, "acme"],
  ] as const) {
    const model = modelAt(server.url, config);
    expect([model.name, model.provider]).toEqual(["scripted", provider]);
    expect((await failureOf(model)).message).toStartWith(`Model scripted at ${provider}: `);
  }
});

test("the fallback takes over at once from a model whose account has nothing left", async () => {
  const error = { message: "You exceeded your current quota", code: "insufficient_quota" };
  const empty = await scripted(() => ({ status: 429, error }));
  const other = await scripted([{ text: "from the other" }]);
  const events = await eventsOf(modelAt(empty.url, { fallback: { name: "other", baseUrl: other.url } }));
  expect(events.at(-1)).toMatchObject({ reply: { text: "from the other", model: "other" } });
  expect(empty.requests).toHaveLength(1);
});

test("a parameter the server refuses is omitted from then on", async () => {
  const server = await scripted(({ stream_options, temperature }) => {
    if (stream_options !== undefined) return { status: 400, error: { message: "Unknown parameter: stream_options" } };
    if (temperature !== undefined)
      return { status: 400, error: { message: "temperature is not supported with this model" } };
    return { text: "ok" };
  });
  const logged: unknown[] = [];
  const logger = { warn: (...entry: unknown[]) => void logged.push(entry) };
  const model = modelAt(server.url, { temperature: 0.2 }, { logger });
  expect((await reply(model, request, { signal: never })).text).toBe("ok");
  expect(server.requests).toHaveLength(3);
  expect(logged).toEqual(
    ["stream_options", "temperature"].map((name) => [
      { model: "scripted", cause: expect.stringContaining(name) },
      "a parameter is left out from now on",
    ]),
  );
  expect((await reply(model, request, { signal: never })).text).toBe("ok");
  expect(server.requests).toHaveLength(4);
});

const completion = JSON.stringify({
  choices: [{ message: { role: "assistant", content: "as it is" }, finish_reason: "stop" }],
});
const chunks = 'data: {"choices":[{"delta":{"content":"as it is"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

test.each([
  ["application/json", completion],
  ["text/plain", completion],
  ["text/plain", chunks],
])("a simple server is understood whatever content type its answer has: %s %j", async (type, body) => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(body, { headers: { "content-type": type } }),
  });
  const model = modelAt(`${server.url.origin}/v1`);
  expect(await reply(model, request, { signal: never })).toMatchObject({ text: "as it is", finish: "stop" });
});

test("a server that refuses to stream is asked for whole answers from then on", async () => {
  const server = await scripted(({ stream, stream_options }) => {
    const message = "Your organization must be verified to stream this model.";
    if (stream === true || stream_options !== undefined) return { status: 400, error: { message } };
    return { text: "all at once", usage: { prompt_tokens: 3, completion_tokens: 2 } };
  });
  const model = modelAt(server.url);
  const answer = await reply(model, request, { signal: never });
  expect(answer).toMatchObject({ text: "all at once", usage: { inputTokens: 3, outputTokens: 2 } });
  await reply(model, request, { signal: never });
  expect(server.requests).toHaveLength(3);
});

test.each([
  [400, "registry.ollama.ai/library/gemma:latest does not support tools"],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [404, "No endpoints found that support tool use."],
  [400, "deepseek-reasoner does not support Function Calling"],
  [500, "tools param requires --jinja flag"],
])("a server without function calling is asked with the prompt's own protocol: %i %s", async (status, message) => {
  const server = await scripted(({ tools }) =>
    tools === undefined
      ? { text: '```tool_call\n{"name": "bash", "arguments": {"command": "ls"}}\n```' }
      : { status, error: { message } },
  );
  const { toolCalls } = await reply(modelAt(server.url), request, { signal: never });
  expect(toolCalls).toMatchObject([{ name: "bash", arguments: '{"command":"ls"}' }]);
  expect(server.requests).toHaveLength(2);
});

test("a refusal that only names a parameter of function calling does not disable it", async () => {
  const server = await scripted(() => ({
    status: 400,
    error: { message: "Unsupported parameter: 'parallel_tool_calls'" },
  }));
  expect((await failureOf(modelAt(server.url))).code).toBe("model_rejected");
  expect(server.requests).toHaveLength(1);
});

test("a server that ignores streaming is read as one answer", async () => {
  const server = await scripted([]);
  const fetch = (async () =>
    Response.json({
      choices: [{ message: { role: "assistant", content: "all at once" }, finish_reason: "stop" }],
    })) as unknown as typeof globalThis.fetch;
  expect((await reply(modelAt(server.url, {}, { fetch }), request, { signal: never })).text).toBe("all at once");
  const late = (async () =>
    new Response(`\n \n{"choices":[{"message":{"content":"kept alive"},"finish_reason":"stop"}]}`, {
      headers: { "content-type": "text/plain" },
    })) as unknown as typeof globalThis.fetch;
  expect((await reply(modelAt(server.url, {}, { fetch: late }), request, { signal: never })).text).toBe("kept alive");
});

test("what the environment says of an account of OpenAI's goes to no server", async () => {
  const names = ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"];
  for (const name of names) process.env[name] = "of-the-environment";
  try {
    const server = await scripted([{ text: "hello" }]);
    await reply(modelAt(server.url), request, { signal: never });
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain("of-the-environment");
  } finally {
    for (const name of names) delete process.env[name];
  }
});

test("Azure is asked at the deployment's address, with its own key header and API version", async () => {
  const server = await scripted(() => ({ text: "from azure" }));
  const origin = new URL(server.url).origin;
  for (const baseUrl of [origin, `${origin}/`, `${origin}/openai/deployments/gpt`]) {
    const model = modelAt(baseUrl, { name: "gpt", apiType: "azure", apiVersion: "2025-03-01-preview" });
    expect((await reply(model, request, { signal: never })).text).toBe("from azure");
  }
  for (const { path, headers } of server.requests) {
    expect(path).toBe("/openai/deployments/gpt/chat/completions?api-version=2025-03-01-preview");
    expect(headers["api-key"]).toBe(secret);
  }
});

test("no more calls are in flight than the configuration allows", async () => {
  let inFlight = 0;
  let most = 0;
  const server = await scripted(() => {
    most = Math.max(most, ++inFlight);
    setTimeout(() => inFlight--, 30);
    return { text: "ok", delayMs: 40 };
  });
  const model = modelAt(server.url, { concurrency: 2 });
  await Promise.all(Array.from({ length: 6 }, () => reply(model, request, { signal: never })));
  expect(server.requests).toHaveLength(6);
  expect(most).toBe(2);
});

test("what shares limits with other processes is one model at one address with one key", () => {
  const endpointOf = (config: object) => {
    const shared: string[] = [];
    modelAt("http://127.0.0.1:9", config, {
      shareLimits({ endpoint }, own) {
        shared.push(endpoint);
        return own;
      },
    });
    return shared.join();
  };
  const others = [{ name: "other" }, { baseUrl: "http://127.0.0.1:8" }, { apiKey: "sk-of-another-account" }];
  expect(endpointOf({ concurrency: 1 })).toBe(endpointOf({}));
  expect(new Set([{}, ...others].map(endpointOf)).size).toBe(4);
});

test("limits are told who asks for how much and what it took, those of the fallback too, and both use what they are given", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  const away = await scripted(() => ({ status: 503 }));
  const other = await scripted(() => ({ text: "ok", usage }));
  const [limits, entered, ended, fetched]: unknown[][] = [[], [], [], []];
  const deps: ModelOptions = {
    fetch: Object.assign((input: string | URL | Request, init?: RequestInit) => {
      fetched?.push(new URL(String(input instanceof Request ? input.url : input)).origin);
      return globalThis.fetch(input, init);
    }, globalThis.fetch),
    shareLimits({ endpoint: _, ...own }) {
      limits?.push(own);
      return {
        async enter(tokens, _signal, principal) {
          entered?.push([tokens, principal]);
          return { end: (spent) => void ended?.push(spent) };
        },
      };
    },
  };
  const fallback = { name: "other", baseUrl: other.url, tokensPerMinute: 1_000_000, concurrency: 3 };
  const model = modelAt(away.url, { maxRetries: 0, fallback }, deps);
  for await (const _ of model.ask(request, { signal: never, principal: "ann" }));
  expect(limits).toEqual([
    { concurrency: undefined, tokensPerMinute: undefined },
    { concurrency: 3, tokensPerMinute: 1_000_000 },
  ]);
  const needed = estimateTokens(request.messages, request.tools);
  expect([entered, ended]).toEqual([
    [
      [0, "ann"],
      [needed, "ann"],
    ],
    [0, 15],
  ]);
  expect(fetched).toEqual([away.url, other.url].map((url) => new URL(url).origin));
  expect(other.requests[0]?.body.tools).toHaveLength(1);
});

test("a fallback that refuses does not replace a first model that is only unavailable", async () => {
  const away = await scripted(() => ({ status: 429, headers: { "retry-after": "90" } }));
  const refusing = await scripted(() => ({ status: 401, error: { message: "bad key" } }));
  const fallback = { name: "other", baseUrl: refusing.url };
  const error = await failureOf(modelAt(away.url, { fallback }));
  expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 90_000, wasReached: true });
  expect(refusing.requests).toHaveLength(1);
});

test("of two models that are away the fallback's error counts; an abort while it is asked keeps its reason", async () => {
  const away = await scripted(() => ({ status: 503 }));
  const busy = await scripted(() => ({ status: 429, headers: { "retry-after": "90" } }));
  const error = await failureOf(modelAt(away.url, { maxRetries: 0, fallback: { name: "other", baseUrl: busy.url } }));
  expect(error).toMatchObject({ code: "rate_limited", retryAfterMs: 90_000 });
  expect(error.message).toStartWith("Model other at ");
  const slow = await scripted([{ text: "one two", stallAfter: 0 }]);
  const controller = new AbortController();
  const fallback = { name: "other", baseUrl: slow.url };
  const asking = failureOf(modelAt(away.url, { maxRetries: 0, fallback }), controller.signal);
  await until(() => slow.requests.length === 1);
  controller.abort("no longer wanted");
  expect((await asking) as unknown).toBe("no longer wanted");
});

test("an empty account is a final failure, by its status too", async () => {
  const server = await scripted(() => ({ status: 402, error: { message: "Payment required" } }));
  const error = await failureOf(modelAt(server.url));
  expect(error.code).toBe("model_rejected");
  expect(error.message).toContain("top it up");
});

test("tokens that a call reserved but did not use are free again within the minute", async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  const server = await scripted(() => ({ text: "ok", usage }));
  const clock = quickClock();
  const long: ModelRequest = { ...request, messages: [{ role: "system", text: "word ".repeat(400) }] };
  const model = modelAt(server.url, { tokensPerMinute: 900 }, { clock });
  for (let n = 0; n < 4; n++) await reply(model, long, { signal: never });
  expect(clock.waits).toEqual([]);
});

test("an answer that broke off and was requested again is paid for: its usage comes with the retry", async () => {
  const server = await scripted([{ text: "one two three four", cutAfter: 2 }, { text: "whole" }]);
  const events = await eventsOf(modelAt(server.url));
  const again = events.find((event) => event.type === "retry");
  expect(again).toMatchObject({ usage: { source: "estimate" }, cause: "the answer broke off" });
  expect(again?.type === "retry" && again.usage?.inputTokens).toBeGreaterThan(0);
});

test("a server that refuses an already omitted parameter is not asked for ever", async () => {
  const server = await scripted(() => ({ status: 400, error: { message: "tool_choice is not supported" } }));
  expect((await failureOf(modelAt(server.url))).code).toBe("model_rejected");
  expect(server.requests.length).toBeLessThan(5);
});

test("a model needs only its name and address; errors in its settings are named", async () => {
  const server = await scripted([{ text: "Hello." }, { status: 503 }, { text: "Hello again." }]);
  const model = createModel({ name: "scripted", baseUrl: server.url });
  expect((await reply(model, request, { signal: never })).text).toBe("Hello.");
  expect((await reply(model, request, { signal: never })).text).toBe("Hello again.");
  for (const [settings, message] of [
    [
      { name: "scripted", price: { inputPerMillion: -1, outputPerMillion: 0 } },
      "The model's price.inputPerMillion: Too small: expected number to be >=0.",
    ],
    ["scripted", "The model's settings: Invalid input: expected object, received string."],
  ] as const)
    expect(() => createModel(settings as never)).toThrow(expect.objectContaining({ code: "config_invalid", message }));
});

test("images of a model that looks only roughly are shrunk as for that", async () => {
  const sized = (imageDetail: "low" | "high") =>
    modelAt("http://127.0.0.1:9", { name: "gpt-4o", imageDetail }).imageRule;
  expect(sized("low")).toMatchObject({ square: 512 });
  expect(sized("high")).toMatchObject({ square: 2048 });
  // The head of a PNG of 1024 by 1024.
  const data = Buffer.from("89504e470d0a1a0a0000000d494844520000040000000400", "hex").toString("base64");
  const server = await scripted([{ text: "seen" }, { text: "seen" }]);
  const sizes: unknown[] = [];
  const shrinkImage: NonNullable<ModelOptions["shrinkImage"]> = async (_, size) => {
    sizes.push(size);
    return { mediaType: "image/png", data };
  };
  const parts = [{ type: "image", mediaType: "image/png", data }] as const;
  for (const imageDetail of ["low", "high"])
    await reply(
      modelAt(server.url, { name: "gpt-4o", imageDetail }, { shrinkImage }),
      { ...request, messages: [{ role: "user", parts }] },
      { signal: never },
    );
  expect(sizes).toEqual([
    { width: 512, height: 512 },
    { width: 768, height: 768 },
  ]);
});

test("a call within a trace tells its provider which", async () => {
  const server = await scripted(() => ({ text: "ok" }));
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  await withinTrace({ traceparent }, () => reply(modelAt(server.url), request, { signal: never }));
  expect(server.requests[0]?.headers.traceparent).toContain("1".repeat(32));
});

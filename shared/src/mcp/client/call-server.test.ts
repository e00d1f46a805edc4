import { expect, jest, spyOn, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/client";
import type { Inquiry, ToolContext } from "../../core/tools/tool.ts";
import { withinTrace } from "../../core/trace.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import { callServer } from "./call-server.ts";
import type { ServerConnection } from "./connection/connection.ts";
import type { CallListener } from "./connection/questions.ts";
import { createSuspendedCalls, type ServerCallOutcome } from "./suspended-calls.ts";

type Sent = { readonly inputResponses?: object; readonly requestState?: string; readonly arguments?: object };
type Options = {
  readonly signal: AbortSignal;
  readonly onprogress: (report: object) => void;
};

const elicit = (message: string) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { [message]: { type: "string" } } } },
});
const think = { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } };
const more = (inputRequests: object, requestState?: string) => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState !== undefined && { requestState }),
});
const done = { content: [{ type: "text", text: "done" }] };
const stateOf = (outcome: ServerCallOutcome) => (outcome.type === "asks" ? outcome.state : null);
const containing = (text: string) => expect.stringContaining(text);
const accepted = (content: object) => ({ action: "accept", content });

/** A server that answers one request after the other, and what it was sent. */
async function serverOf(...answers: readonly Answer[]) {
  return serverWith({ timeout: 1_000 }, ...answers);
}

type Answer = object | ((listener: CallListener, options: Options) => Promise<object>);

/** The same with this in its entry. */
async function serverWith(entry: object, ...answers: readonly Answer[]) {
  const room = await workspaceForTest();
  const sent: Sent[] = [];
  const held = createSuspendedCalls();
  const server = { name: "shop", elicitation: true, sampling: true, ...entry };
  const use: ServerConnection["use"] = (work, _signal, listener) => {
    const callTool = async ({ name: _, ...params }: { name: string }, options: Options) => {
      sent.push(params);
      const answer = answers[Math.min(sent.length, answers.length) - 1] ?? {};
      return typeof answer === "function" ? answer(listener as CallListener, options) : answer;
    };
    return work({ callTool } as unknown as Client);
  };
  const connection = { server, use } as unknown as ServerConnection;
  const definition = {
    name: "buy",
    inputSchema: { type: "object" as const },
    outputSchema: { type: "object" as const },
  };
  const call = { connection, definition, arguments: { item: 7 }, held };
  return {
    sent,
    held,
    call: (context: Partial<ToolContext> = {}) => callServer(call, contextForTest(room.workspace, context)),
    /** The person's answer to an outcome that asks. */
    reply: (outcome: ServerCallOutcome, text: string) =>
      callServer(call, contextForTest(room.workspace, { answer: { text, state: stateOf(outcome) } })),
    [Symbol.asyncDispose]: () => room[Symbol.asyncDispose](),
  };
}

const questions = { a: elicit("size"), b: elicit("colour"), c: elicit("name") };

test("every answer to a round of questions reaches the server, with its token and the same arguments", async () => {
  await using shop = await serverOf(more(questions, "token-1"), done);
  const first = await shop.call();
  expect(first).toMatchObject({ type: "asks", question: containing("> size") });
  const second = await shop.reply(first, "large");
  expect(second).toMatchObject({ type: "asks", question: containing("> colour") });
  const third = await shop.reply(second, "red");
  expect(third).toMatchObject({ type: "asks", question: containing("> name") });
  expect(shop.sent).toEqual([{ arguments: { item: 7 } }]);
  expect(await shop.reply(third, "Ann")).toEqual({ type: "result", result: done as never });
  const inputResponses = {
    a: accepted({ size: "large" }),
    b: accepted({ colour: "red" }),
    c: accepted({ name: "Ann" }),
  };
  expect(shop.sent[1]).toEqual({ arguments: { item: 7 }, inputResponses, requestState: "token-1" });
});

test("a call that has ended leaves no timer behind", async () => {
  await using shop = await serverOf(done);
  using began = spyOn(globalThis, "setTimeout");
  using ended = spyOn(globalThis, "clearTimeout");
  await shop.call();
  const timers = began.mock.results.map(({ value }) => value);
  expect(timers.length).toBeGreaterThan(0);
  expect(timers.filter((timer) => !ended.mock.calls.some(([one]) => one === timer))).toEqual([]);
});

test("a server without a token is sent none", async () => {
  await using shop = await serverOf(more({ a: elicit("size") }), done);
  await shop.reply(await shop.call(), "large");
  expect(shop.sent[1]).toEqual({ arguments: { item: 7 }, inputResponses: { a: accepted({ size: "large" }) } });
});

test("a later round has its own token and its own questions", async () => {
  await using shop = await serverOf(more({ a: elicit("size") }, "1"), more({ z: elicit("colour") }, "2"), done);
  const second = await shop.reply(await shop.call(), "large");
  expect(second).toMatchObject({ type: "asks", question: containing("> colour") });
  expect(await shop.reply(second, "red")).toMatchObject({ type: "result" });
  expect(shop.sent.map(({ requestState }) => requestState)).toEqual([undefined, "1", "2"]);
  expect(shop.sent[2]?.inputResponses).toEqual({ z: accepted({ colour: "red" }) });
});

test("a later round without a token is not continued with the one before", async () => {
  await using shop = await serverOf(more({ a: elicit("size") }, "1"), more({ z: elicit("colour") }), done);
  const second = await shop.reply(await shop.call(), "large");
  await shop.reply(second, "red");
  expect(shop.sent[2]).toEqual({ arguments: { item: 7 }, inputResponses: { z: accepted({ colour: "red" }) } });
});

test("a result may be anything, questions included, and only our own time ends the call", async () => {
  const given: { options?: Options & { readonly toolDefinition?: object } } = {};
  await using shop = await serverOf(async (_, options) => {
    given.options = options;
    return done;
  });
  await shop.call();
  expect(given.options).toMatchObject({
    allowInputRequired: true,
    timeout: 2 ** 31 - 1,
  });
  // An output schema would be enforced.
  expect(given.options?.toolDefinition).toEqual({ name: "buy", inputSchema: { type: "object" } });
});

test("what the model answers in a round is kept while a person answers the rest", async () => {
  await using shop = await serverOf(more({ m: think, a: elicit("size"), n: think }, "1"), done);
  const inquiries: Inquiry[] = [];
  const ask = async (inquiry: Inquiry) => `thought ${inquiries.push(inquiry)}`;
  const asked = await shop.call({ ask });
  expect(await shop.reply(asked, "decline")).toMatchObject({ type: "result" });
  const thought = (n: number) => ({
    model: "agent",
    role: "assistant",
    content: { type: "text", text: `thought ${n}` },
  });
  expect(inquiries).toHaveLength(2);
  expect(shop.sent[1]?.inputResponses).toEqual({ m: thought(1), n: thought(2), a: { action: "decline" } });
});

test("an answer that cannot be sent is said, and the same question asked again with nothing lost", async () => {
  const asked = {
    a: elicit("size"),
    b: {
      ...elicit("x"),
      params: { message: "count", requestedSchema: { type: "object", properties: { n: { type: "integer" } } } },
    },
  };
  await using shop = await serverOf(more(asked, "1"), done);
  const first = await shop.reply(await shop.call(), "large");
  const again = await shop.reply(first, "many");
  const question = containing(
    'n cannot be "many".\n\nThe MCP server "shop" asks (these are its words, not mine):\n\n> count',
  );
  expect(again).toMatchObject({ type: "asks", question });
  expect(await shop.reply(again, "2")).toMatchObject({ type: "result" });
  expect(shop.sent[1]?.inputResponses).toEqual({ a: accepted({ size: "large" }), b: accepted({ n: 2 }) });
});

test("a tenth round may bring the result, and a server that asks on is given up", async () => {
  const rounds = (n: number) => Array.from({ length: n }, (_, at) => more({ m: think }, `${at}`));
  const ask = async () => "42";
  await using patient = await serverOf(...rounds(9), done);
  expect(await patient.call({ ask })).toMatchObject({ type: "result" });
  await using endless = await serverOf(...rounds(10), done);
  await expect(endless.call({ ask })).rejects.toMatchObject({
    code: "unavailable",
    message: containing("again and again"),
  });
  expect(endless.sent).toHaveLength(10);
});

test("a server that only says to come again is asked again after a pause, which ends with the task", async () => {
  await using shop = await serverOf(more({}, "later"), done);
  const before = performance.now();
  expect(await shop.call()).toMatchObject({ type: "result" });
  expect(performance.now() - before).toBeGreaterThan(200);
  expect(shop.sent[1]).toMatchObject({ requestState: "later", inputResponses: {} });
  await using other = await serverOf(more({}, "later"));
  const stop = new AbortController();
  const waiting = other.call({ signal: stop.signal });
  stop.abort("stopped");
  await expect(waiting).rejects.toBe("stopped");
});

test("a request of another kind is refused by its name", async () => {
  await using shop = await serverOf(more({ r: { method: "roots/list", params: {} } }));
  await expect(shop.call()).rejects.toMatchObject({ code: "unavailable", message: containing('"roots/list"') });
});

test.each([
  ["elicitation", elicit("size")],
  ["sampling", think],
])("a server whose entry has no %s asks that neither a person nor the model", async (key, asked) => {
  const inquiries: Inquiry[] = [];
  const ask: ToolContext["ask"] = async (inquiry) => `${inquiries.push(inquiry)}`;
  await using shop = await serverWith({ timeout: 1_000, [key]: false }, more({ r: asked }), done);
  await expect(shop.call({ ask })).rejects.toMatchObject({
    code: "unavailable",
    message: containing(`${JSON.stringify(asked.method)}, which is not offered`),
  });
  expect([inquiries, shop.sent.length]).toEqual([[], 1]);
});

test("of several questions one that cannot be put to a person ends the call before any is put", async () => {
  const odd = { method: "elicitation/create", params: { message: "odd", requestedSchema: { properties: 7 } } };
  await using shop = await serverOf(more({ a: elicit("size"), b: odd }), done);
  await expect(shop.call()).rejects.toThrow("properties");
});

test("a question of a call that is under way is answered in place, once, and not after it is gone", async () => {
  const params = elicit("size").params as Parameters<CallListener["elicit"]>[0];
  await using shop = await serverOf(async (listener) => ({ content: [], answer: await listener.elicit(params) }));
  const asked = await shop.call();
  expect(asked).toMatchObject({ type: "asks", question: containing("> size") });
  expect(await shop.reply(asked, "large")).toMatchObject({
    type: "result",
    result: { answer: accepted({ size: "large" }) },
  });
  expect(shop.sent).toHaveLength(1);
  await expect(shop.reply(asked, "small")).rejects.toMatchObject({ code: "interrupted" });
});

test("the result of a call says that a question was cancelled because it could have been for any of several", async () => {
  await using shop = await serverOf(async (listener) => {
    listener.unclear();
    return { content: [{ type: "text", text: "not bought" }] };
  });
  expect(await shop.call()).toMatchObject({
    result: { content: [{ text: "not bought" }, { text: containing("nobody was asked") }] },
  });
});

test("a question that cannot be put to a person leaves its call one that can be cancelled", async () => {
  const odd = { message: "odd", requestedSchema: { properties: 7 } } as never;
  const stop = new AbortController();
  const refused = Promise.withResolvers<unknown>();
  await using shop = await serverWith({ timeout: 20_000 }, async (listener, { signal }) => {
    const ended = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    await listener.elicit(odd).catch(refused.resolve);
    return ended;
  });
  const called = shop.call({ signal: stop.signal });
  expect(String(await refused.promise)).toContain("properties");
  stop.abort(new DOMException("stopped", "AbortError"));
  await expect(called).rejects.toThrow("stopped");
});

test("of what a server asks all at once a person is asked the first, and the rest is cancelled", async () => {
  const params = elicit("size").params as Parameters<CallListener["elicit"]>[0];
  await using shop = await serverOf(async (listener) => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => listener.elicit(params)));
    return { content: [], actions: answers.map(({ action }) => action).join() };
  });
  const rest = Array.from({ length: 99 }, () => "cancel");
  const result = { content: [], actions: ["accept", ...rest].join() };
  expect(await shop.reply(await shop.call(), "large")).toMatchObject({ type: "result", result });
});

test("the time for an answer stands still while a person thinks", async () => {
  jest.useFakeTimers();
  try {
    const params = elicit("size").params as Parameters<CallListener["elicit"]>[0];
    const seen: { options?: Options } = {};
    await using shop = await serverOf(async (listener, options) => {
      seen.options = options;
      await listener.elicit(params);
      return new Promise((_, reject) =>
        options.signal.addEventListener("abort", () => reject(options.signal.reason), { once: true }),
      );
    });
    const asked = await shop.call();
    jest.advanceTimersByTime(60_000);
    expect(seen.options?.signal.aborted).toBe(false);
    const ended = shop.reply(asked, "large");
    const settled = ended.catch((error: unknown) => error);
    for (let n = 0; n < 20; n++) await Promise.resolve();
    jest.advanceTimersByTime(999);
    expect(seen.options?.signal.aborted).toBe(false);
    jest.advanceTimersByTime(2);
    expect(await settled).toMatchObject({ code: "timeout", message: containing("did not answer within 1 s") });
  } finally {
    jest.useRealTimers();
  }
});

test("each report gives the server its whole time again, ten times in all, and is shown", async () => {
  const reports: string[] = [];
  await using shop = await serverWith({ timeout: 100 }, async (_, { signal, onprogress }) => {
    onprogress({ progress: 1, total: 4, message: "packing" });
    const ticking = setInterval(() => onprogress({ progress: 0 }), 5);
    return new Promise<never>((_, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
    ).finally(() => clearInterval(ticking));
  });
  const before = performance.now();
  await expect(shop.call({ progress: (line) => reports.push(line) })).rejects.toMatchObject({ code: "timeout" });
  const took = performance.now() - before;
  expect(took).toBeGreaterThan(900);
  expect(took).toBeLessThan(5_000);
  expect(reports.slice(0, 2)).toEqual(["packing 1/4\n", "0\n"]);
});

test("what a call does after its person answered is that later step's: its progress and what it asks the model", async () => {
  const params = elicit("size").params as Parameters<CallListener["elicit"]>[0];
  await using shop = await serverOf(async (listener, { onprogress }) => {
    await listener.elicit(params);
    onprogress({ progress: 1 });
    return { content: [], thought: await listener.sample(think.params as never) };
  });
  const seen: string[] = [];
  const step = (name: string): Partial<ToolContext> => ({
    progress: (line) => seen.push(`${name} ${line}`),
    ask: async () => name,
  });
  const asked = await shop.call(step("first"));
  const done = await shop.call({ ...step("second"), answer: { text: "large", state: stateOf(asked) } });
  expect(done).toMatchObject({ result: { thought: { content: { text: "second" } } } });
  expect(seen).toEqual(["second 1\n"]);
});

test("a call tells its server the trace it belongs to", async () => {
  await using shop = await serverOf(done);
  const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  await withinTrace({ traceparent }, () => shop.call());
  await shop.call();
  expect(shop.sent).toEqual([{ arguments: { item: 7 }, _meta: { traceparent } } as Sent, { arguments: { item: 7 } }]);
});

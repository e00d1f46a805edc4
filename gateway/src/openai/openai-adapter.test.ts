import { expect, test } from "bun:test";
import { callerNamed, type Scope } from "manyhands/internal/core/caller";
import { AppError } from "manyhands/internal/core/errors";
import type { Json } from "manyhands/internal/core/json";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { settingsOf } from "manyhands/internal/flow/flow-request";
import OpenAI from "openai";
import { echo, startGateway, type TestFlow } from "../testing/gateway.ts";
import { type OpenAiAdapterDeps, openAiAdapter } from "./openai-adapter.ts";

const json = { "Content-Type": "application/json" };
const clientOf = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });

test("a stock client sees flows as models and gets an answer", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["echo"]);
  expect((await client.models.retrieve("echo")).owned_by).toBe("manyhands");
  const { choices, usage } = await client.chat.completions.create({
    model: "echo",
    messages: [{ role: "user", content: "hello" }],
  });
  expect(choices[0]).toMatchObject({ message: { role: "assistant", content: "hello" }, finish_reason: "stop" });
  expect(usage).toEqual({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
});

test("a stream has the answer in chunks that end with stop, the usage and nothing more", async () => {
  await using gateway = await startGateway();
  const stream = await clientOf(gateway.url).chat.completions.create({
    model: "echo",
    messages: [{ role: "user", content: "hello" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("hello");
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
  expect(chunks.at(-1)?.usage?.total_tokens).toBe(0);
});

/** A flow that tells a plan and a step of it, as the planning flow does. */
const planned: TestFlow = {
  runnable: { ...echo, name: "planned", kind: "planned" },
  async execute(run) {
    const plan = (mark: string, note: string) =>
      run.emit({
        type: "plan-changed",
        text: `Plan: Trip\n\nSteps:\n0. [${mark}] [maps] Find the way\n`,
        steps: [],
        note,
      });
    plan(" ", "The plan: Trip");
    const note = "Step 1: maps begins: Find the way";
    run.emit({ type: "step-assigned", step: "1", agent: "maps", attempt: 1, note });
    plan("→", note);
    return { answer: "there" };
  },
};

test("a flow's progress comes as reasoning, every line once and the plan with its marks", async () => {
  await using gateway = await startGateway({ flows: [planned] });
  const messages = [{ role: "user", content: "hello" }] as const;
  const stream = await clientOf(gateway.url).chat.completions.create({
    model: "planned",
    messages: [...messages],
    stream: true,
  });
  const deltas = (await Array.fromAsync(stream)).flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const reasoning = deltas.map((delta) => (delta as { reasoning_content?: string }).reasoning_content ?? "").join("");
  expect(reasoning).toBe("The plan: Trip\n- [ ] [maps] Find the way\nStep 1: maps begins: Find the way\n");
});

test("the next message of a chat answers the question of its run, which then answers", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const first = { role: "user", content: "ask me" } as const;
  const asked = await client.chat.completions.create({ model: "echo", messages: [first] });
  expect(asked.choices[0]?.message.content).toBe("Really?");
  const messages = [first, { role: "assistant", content: "Really?" }, { role: "user", content: "yes" }] as const;
  const answered = await client.chat.completions.create({ model: "echo", messages: [...messages] });
  expect([answered.id, answered.choices[0]?.message.content]).toEqual([asked.id, "ask me"]);
  const { total } = JSON.parse(await (await fetch(`${gateway.url}/runs`)).text());
  expect(total).toBe(1);
});

test("earlier messages reach a run that does not know them, in the same conversation", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const first = { role: "user", content: "one" } as const;
  await client.chat.completions.create({ model: "echo", messages: [first] });
  const { choices } = await client.chat.completions.create({
    model: "echo",
    messages: [first, { role: "assistant", content: "one" }, { role: "user", content: "two" }],
  });
  expect(choices[0]?.message.content).toBe("What was said before:\nuser: one\nassistant: one\n\nNow:\ntwo");
  const { runs } = JSON.parse(await (await fetch(`${gateway.url}/runs`)).text());
  expect(runs[0].contextId).toBe(runs[1].contextId);
});

test("images and files of a message reach the run as files", async () => {
  await using gateway = await startGateway();
  const png = `data:image/png;base64,${Buffer.from("png").toString("base64")}`;
  const pdf = `data:application/pdf;base64,${Buffer.from("pdf").toString("base64")}`;
  const content = [
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: png } },
    { type: "file", file: { filename: "a.pdf", file_data: pdf } },
  ] as const;
  const { choices } = await clientOf(gateway.url).chat.completions.create({
    model: "echo",
    messages: [{ role: "user", content: [...content] }],
  });
  expect(choices[0]?.message.content).toMatch(/^look\n\n- \[image\.png\]\(http.*\n- \[a\.pdf\]\(http/);
});

test("a failure is an error of the API, in a stream too", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const messages = [{ role: "user" as const, content: "fail" }];
  // What the client answers is no plain promise.
  const whole = async (model: string) => await client.chat.completions.create({ model, messages });
  await expect(whole("echo")).rejects.toMatchObject({ status: 422, code: "task_failed" });
  await expect(whole("nothing")).rejects.toMatchObject({ status: 404, code: "not_found" });
  const stream = await client.chat.completions.create({ model: "echo", messages, stream: true });
  await expect(Array.fromAsync(stream)).rejects.toThrow("It was told to fail.");
  const nothing = async () => await client.embeddings.create({ model: "echo", input: "hello" });
  await expect(nothing()).rejects.toMatchObject({ status: 404, code: "not_found" });
});

test("a body that is not JSON is refused with the reason, and every flow and agent is a model", async () => {
  const second: TestFlow = { ...planned, runnable: { ...echo, name: "second", kind: "second" } };
  await using gateway = await startGateway({ flows: [planned, second] });
  const post = (body: string) => fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers: json, body });
  const answered = await post("{");
  expect([answered.status, JSON.parse(await answered.text()).error]).toMatchObject([
    400,
    { code: "invalid_input", type: "invalid_request_error", message: expect.stringMatching(/JSON/i) },
  ]);
  const { object, data } = JSON.parse(await (await fetch(`${gateway.url}/v1/models`)).text());
  expect([object, data.map(({ id }: { id: string }) => id)]).toEqual(["list", ["echo", "planned", "second"]]);
  expect(data[0]).toEqual({ id: "echo", object: "model", created: 0, owned_by: "manyhands" });
});

test("a refused caller hears how to sign in; a bug is reported and not told", async () => {
  let fault: Error = new AppError("unauthorized", "Who are you?");
  const reported: unknown[] = [];
  const identify = () => {
    throw fault;
  };
  const report = (bug: unknown) => void reported.push(bug);
  const app = openAiAdapter({ identify, report, heartbeatMs: 1 } as Partial<OpenAiAdapterDeps> as OpenAiAdapterDeps);
  const refused = await app.request("/v1/models");
  expect([refused.status, refused.headers.get("WWW-Authenticate"), reported]).toEqual([401, "Bearer", []]);
  fault = new Error("a secret");
  const broken = await app.request("/v1/models");
  expect([broken.status, reported]).toEqual([500, [fault]]);
  expect(await broken.text()).not.toContain("secret");
});

test.each([
  ["/v1/models", undefined, "run"],
  ["/v1/models/echo", undefined, "run"],
  ["/v1/chat/completions", { model: "echo", messages: [{ role: "user", content: "hello" }] }, "read"],
] as const)("%s is refused to a caller that lacks its scope, and nothing is begun", async (path, body, scope) => {
  let granted: Scope = scope;
  await using gateway = await startGateway({ app: { identify: () => callerNamed("alice", [granted]) } });
  const asked = () =>
    fetch(`${gateway.url}${path}`, body && { method: "POST", body: JSON.stringify(body), headers: json });
  const refused = await asked();
  expect([refused.status, JSON.parse(await refused.text())]).toEqual([
    403,
    { error: expect.objectContaining({ code: "forbidden", type: "invalid_request_error" }) },
  ]);
  expect((await gateway.engine.list({ limit: 1 })).total).toBe(0);
  granted = scope === "run" ? "read" : "run";
  expect((await asked()).status).toBe(200);
});

test("a client that goes away from a chat that is not streamed cancels its run", async () => {
  await using gateway = await startGateway();
  const gone = new AbortController();
  const body = JSON.stringify({ model: "echo", messages: [{ role: "user", content: "sleep" }] });
  const asked = fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    body,
    headers: json,
    signal: gone.signal,
  });
  const statuses = async () => (await gateway.engine.list({ limit: 1 })).runs.map(({ status }) => status);
  const until = async (isSo: (status?: string) => boolean) => {
    for (const deadline = Date.now() + 60_000; !isSo((await statuses())[0]); await Bun.sleep(5))
      if (Date.now() > deadline) throw new Error(`The run is ${await statuses()}.`);
  };
  await until((status) => status !== undefined);
  gone.abort();
  await expect(asked).rejects.toThrow();
  await until((status) => status === "canceled");
});

test("a run that pauses ends the chat with an error, whole and streamed, and can still be resumed", async () => {
  const broken: TestFlow = {
    runnable: { ...echo, name: "broken", kind: "broken" },
    async execute(run) {
      // An event that cannot be stored pauses a run.
      await run.step("tell", async (step) => void step.emit({ type: "told", amount: 1n as never }));
      return { answer: "" };
    },
  };
  await using gateway = await startGateway({ flows: [broken] });
  const client = clientOf(gateway.url);
  const request = { model: "broken", messages: [{ role: "user" as const, content: "hello" }] };
  const whole = async () => await client.chat.completions.create(request);
  await expect(whole()).rejects.toThrow("is paused");
  const stream = await client.chat.completions.create({ ...request, stream: true });
  await expect(Array.fromAsync(stream)).rejects.toThrow("is paused");
  const { runs } = JSON.parse(await (await fetch(`${gateway.url}/runs`)).text());
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(["paused", "paused"]);
});

test("closing the stream cancels the run", async () => {
  await using gateway = await startGateway();
  const messages = [{ role: "user", content: "sleep" }] as const;
  const stream = await clientOf(gateway.url).chat.completions.create({
    model: "echo",
    messages: [...messages],
    stream: true,
  });
  stream.controller.abort();
  const status = async () => JSON.parse(await (await fetch(`${gateway.url}/runs`)).text()).runs[0]?.status;
  for (const deadline = Date.now() + 60_000; (await status()) !== "canceled"; await Bun.sleep(5))
    if (Date.now() > deadline) throw new Error(`The run is ${await status()}.`);
});

test("a caller's own tools are refused with a reason; an empty list is accepted", async () => {
  await using gateway = await startGateway();
  const client = clientOf(gateway.url);
  const messages = [{ role: "user" as const, content: "hello" }];
  const tool = { type: "function" as const, function: { name: "f", parameters: {} } };
  const given = async (rest: object) => await client.chat.completions.create({ model: "echo", messages, ...rest });
  for (const [field, value] of [
    ["tools", [tool]],
    ["functions", [tool.function]],
  ] as const)
    await expect(given({ [field]: value })).rejects.toMatchObject({
      status: 400,
      code: "invalid_input",
      message: `400 body.${field}: Flows and agents use their own tools and never call yours: leave this out.`,
    });
  expect(await given({ tools: [] })).toMatchObject({ choices: [{ message: { content: "hello" } }] });
});

/** Gives its input and the form that was asked for as data, beside an answer in words. */
const formed: TestFlow = {
  runnable: { ...echo, name: "formed", kind: "formed", team: ["manus", "swe"], admit: settingsOf },
  async execute(run, input) {
    const { outputSchema = null, flow = null } = input as AgentInput;
    const data: Json = { outputSchema, flow };
    const parts = [{ type: "text", text: "In words." }, ...(outputSchema === null ? [] : [{ type: "data", data }])];
    run.emit({ type: "artifact-added", artifactId: `${run.id}/answer`, name: "answer", parts });
    return { answer: "In words.", data };
  },
};

test("response_format sets the form of the answer, which is then only JSON; and a flow that needs agents gets its example's", async () => {
  await using gateway = await startGateway({ flows: [formed] });
  const client = clientOf(gateway.url);
  const messages = [{ role: "user" as const, content: "hello" }];
  const schema = { type: "object", properties: { total: { type: "number" } } };
  const asked = [
    [{ type: "json_schema", json_schema: { name: "total", schema } }, schema],
    [{ type: "json_object" }, { type: "object" }],
  ] as const;
  for (const [response_format, outputSchema] of asked) {
    const request = { model: "formed", messages, response_format } as const;
    const { choices } = await client.chat.completions.create(request as OpenAI.ChatCompletionCreateParamsNonStreaming);
    const streamed = await client.chat.completions.create({
      ...request,
      stream: true,
    } as OpenAI.ChatCompletionCreateParamsStreaming);
    const pieces = (await Array.fromAsync(streamed)).map((chunk) => chunk.choices[0]?.delta.content ?? "");
    for (const content of [choices[0]?.message.content ?? "", pieces.join("")])
      expect(JSON.parse(content)).toEqual({ outputSchema, flow: { agents: ["manus", "swe"] } });
  }
  const plain = await client.chat.completions.create({ model: "formed", messages, response_format: { type: "text" } });
  expect(plain.choices[0]?.message.content).toBe("In words.");
  const broken = { type: "json_schema", json_schema: { name: "x", schema: { type: "nonsense" } } } as const;
  const wrong = async () =>
    await client.chat.completions.create({ model: "formed", messages, response_format: broken });
  await expect(wrong()).rejects.toMatchObject({ status: 400, code: "invalid_input" });
});

/**
 * An agent that was asked and writes two replies, of which the second is the answer, once somebody
 * follows.
 */
const writing = (followed: Promise<void>): TestFlow => ({
  runnable: { ...echo, type: "agent", name: "writer", kind: "agent:writer" },
  async execute(run) {
    run.emit({ type: "step-assigned", step: "1", agent: "writer", attempt: 1, note: "It begins" });
    await followed;
    await run.step("write", async (step) => {
      const ask = { askId: step.key, isAnswer: true };
      const piece = (text: string, at: number) => step.progress({ type: "agent-writing", ...ask, text, at });
      const whole = (text: string) => step.progress({ type: "agent-written", ...ask, text });
      piece("I ", 0);
      piece("count.", 2);
      whole("I count.");
      piece("There ", 0);
      piece("are 168.", 6);
      whole("There are 168.");
      return null;
    });
    const parts = [{ type: "text", text: "There are 168." }];
    run.emit({ type: "artifact-added", artifactId: `${run.id}/answer`, name: "answer", parts });
    return { answer: "There are 168." };
  },
});

test("an agent's text comes as it is written, and its answer once", async () => {
  const { promise: followed, resolve } = Promise.withResolvers<void>();
  await using gateway = await startGateway({ flows: [writing(followed)] });
  const messages = [{ role: "user" as const, content: "hello" }];
  const request = { model: "writer", messages } as const;
  const stream = await clientOf(gateway.url).chat.completions.create({ ...request, stream: true });
  const pieces: string[] = [];
  for await (const { choices } of stream) {
    const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {};
    if (delta.reasoning_content?.includes("It begins")) resolve();
    if (delta.content) pieces.push(delta.content);
  }
  expect(pieces).toEqual(["I ", "count.", "\n\nThere ", "are 168."]);
  const whole = await clientOf(gateway.url).chat.completions.create(request);
  expect(whole.choices[0]?.message.content).toBe("There are 168.");
});

/** A flow in which others write first, and whose model then writes the answer. */
const reporting = (followed: Promise<void>): TestFlow => ({
  runnable: { ...echo, name: "report", kind: "report" },
  async execute(run) {
    run.emit({ type: "step-assigned", step: "1", agent: "writer", attempt: 1, note: "It begins" });
    await followed;
    await run.step("report", async (step) => {
      step.progress({ type: "agent-writing", askId: step.key, text: "A part.", at: 0 });
      step.progress({ type: "text-delta", text: "Of another matter.", at: 0 });
      const piece = (text: string, at: number) => step.progress({ type: "text-delta", text, at, isAnswer: true });
      piece("There ", 0);
      piece("are 168.", 6);
      return null;
    });
    const answer = "There are 168.\n\nOne agent was away.";
    run.emit({
      type: "artifact-added",
      artifactId: `${run.id}/answer`,
      name: "answer",
      parts: [{ type: "text", text: answer }],
    });
    return { answer };
  },
});

test("the answer of a flow's model comes as it is written, and no other text does", async () => {
  const { promise: followed, resolve } = Promise.withResolvers<void>();
  await using gateway = await startGateway({ flows: [reporting(followed)] });
  const messages = [{ role: "user" as const, content: "hello" }];
  const stream = await clientOf(gateway.url).chat.completions.create({ model: "report", messages, stream: true });
  const pieces: string[] = [];
  for await (const { choices } of stream) {
    const delta: { content?: string | null; reasoning_content?: string } = choices[0]?.delta ?? {};
    if (delta.reasoning_content?.includes("It begins")) resolve();
    if (delta.content) pieces.push(delta.content);
  }
  expect(pieces).toEqual(["There ", "are 168.", "\n\nOne agent was away."]);
});

test("a question from a stream stays open for the next message, but only in a chat with the same model", async () => {
  const other = { runnable: { ...echo, name: "other", kind: "other" }, execute: async () => ({ answer: "" }) };
  await using gateway = await startGateway({ flows: [other] });
  const client = clientOf(gateway.url);
  const first = { role: "user", content: "ask me" } as const;
  const stream = await client.chat.completions.create({ model: "echo", messages: [first], stream: true });
  const chunks = await Array.fromAsync(stream);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Really?");
  const messages = [first, { role: "assistant", content: "Really?" }, { role: "user", content: "yes" }] as const;
  const elsewhere = await client.chat.completions.create({ model: "other", messages: [...messages] });
  expect(elsewhere.id).not.toBe(chunks[0]?.id ?? "");
  const answered = await client.chat.completions.create({ model: "echo", messages: [...messages] });
  expect([answered.id, answered.choices[0]?.message.content]).toEqual([chunks[0]?.id ?? "", "ask me"]);
});

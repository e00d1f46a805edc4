import { expect, test } from "bun:test";
import OpenAI from "openai";
import { startScriptedModel } from "../../testing/models/scripted-model.ts";
import { startChatServer } from "./chat-server.ts";

const body = { model: "scripted", messages: [{ role: "user" as const, content: "Hello" }] };

test("any client of the protocol can use the server, streamed or not", async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const server = await startScriptedModel(() => ({ text: "two words", calls: [{ id: "a", name: "bash" }], usage }));
  const client = new OpenAI({ apiKey: "none", baseURL: server.url, maxRetries: 0 });
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["scripted"]);
  const whole = await client.chat.completions.create(body);
  expect(whole.choices[0]).toMatchObject({ message: { content: "two words" }, finish_reason: "tool_calls" });
  expect(whole.usage).toMatchObject(usage);
  const chunks = await Array.fromAsync(await client.chat.completions.create({ ...body, stream: true }));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("two words");
  expect(chunks.some((chunk) => chunk.usage != null)).toBe(false);
  const stream_options = { include_usage: true };
  const counted = await Array.fromAsync(
    await client.chat.completions.create({ ...body, stream: true, stream_options }),
  );
  expect(counted.at(-1)?.usage).toMatchObject(usage);
  expect(server.requests.map(({ state }) => state)).toEqual(["answered", "answered", "answered"]);
  await server.close();
});

test("calls and reasoning are the same in an answer that streams and in one that comes whole", async () => {
  const calls = [
    { id: "a", name: "bash", args: { command: "ls -a" } },
    { id: "b", name: "look", rawArguments: "{cut" },
  ];
  const server = await startScriptedModel(({ messages }) =>
    messages.length > 1 ? { text: "plain" } : { reasoning: "hm hm", calls },
  );
  const client = new OpenAI({ apiKey: "none", baseURL: server.url, maxRetries: 0 });
  const sent = [
    { id: "a", type: "function", function: { name: "bash", arguments: '{"command":"ls -a"}' } },
    { id: "b", type: "function", function: { name: "look", arguments: "{cut" } },
  ];
  const [whole] = (await client.chat.completions.create(body)).choices;
  expect(whole?.message as unknown).toEqual({
    role: "assistant",
    content: null,
    reasoning_content: "hm hm",
    tool_calls: sent,
  });
  const chunks = await Array.fromAsync(await client.chat.completions.create({ ...body, stream: true }));
  const deltas = chunks.map(({ choices }) => choices[0]?.delta);
  expect(deltas[0]).toMatchObject({ role: "assistant", reasoning_content: "hm" });
  const pieces = deltas.flatMap((delta) => delta?.tool_calls ?? []);
  const joined = sent.map((call, at) => ({
    ...pieces.find(({ index, id }) => index === at && id !== undefined),
    function: {
      name: call.function.name,
      arguments: pieces.map((piece) => (piece.index === at ? (piece.function?.arguments ?? "") : "")).join(""),
    },
  }));
  expect(joined as unknown).toEqual(sent.map((call, index) => ({ index, ...call })));
  const [said] = (await client.chat.completions.create({ ...body, messages: [...body.messages, ...body.messages] }))
    .choices;
  expect(said).toMatchObject({ finish_reason: "stop", message: { content: "plain" } });
  expect(Object.keys(said?.message ?? {}).sort()).toEqual(["content", "role"]);
  await server.close();
});

test("an invalid request is answered with an error object", async () => {
  const server = await startScriptedModel([]);
  const post = (text: string) => fetch(`${server.url}/chat/completions`, { method: "POST", body: text });
  for (const text of ["", "nonsense", "{}", '{"model":"x","messages":[]}']) {
    const response = await post(text);
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([400, ["error"]]);
  }
  expect((await fetch(`${server.url}/embeddings`)).status).toBe(404);
  expect((await post(JSON.stringify(body))).status).toBe(400);
  await server.close();
});

test("a port in use is an error that says so", async () => {
  const first = await startScriptedModel([]);
  const port = Number(new URL(first.url).port);
  const second = startChatServer({ port, models: [], answer: () => ({}) });
  expect(await second.catch((error: unknown) => error)).toMatchObject({ code: "unavailable" });
  await first.close();
});

import { expect, test } from "bun:test";
import OpenAI from "openai";
import { startScriptedModel } from "../../testing/scripted-model.ts";
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

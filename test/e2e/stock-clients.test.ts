import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { freePort } from "manyhands/internal/http/free-port";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import OpenAI from "openai";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

let home: string;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;

/**
 * Asks for a name first, then writes a greeting into a file, with a progress message, and reports
 * it.
 */
function greeter({ messages }: ChatRequest) {
  const results = messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
  const [name] = results;
  if (name === undefined) return { calls: [{ name: "ask_human", args: { inquire: "Who is to be greeted?" } }] };
  if (results.length === 1) {
    const args = { command: "create", path: "greeting.txt", file_text: `Hello, ${name.trim()}!\n` };
    return { text: "Writing it down.", calls: [{ name: "str_replace_editor", args }] };
  }
  return { calls: [{ name: "terminate", args: { status: "success", summary: "The greeting is written." } }] };
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "stock-clients-"));
  model = await startScriptedModel(greeter);
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  manus = startManus({ MANYHANDS_HOME: home, PORT: `${freePort()}`, SANDBOX: "off", ...scripted });
  await manus.ready;
  gateway = await startGatewayServer(home, { MANUS_URL: manus.url, ...scripted });
});

afterAll(async () => {
  await Promise.all([gateway.stop("SIGKILL"), manus.stop("SIGKILL")]);
  await model.close();
  await rm(home, { recursive: true });
});

test("a stock OpenAI client chats with a flow: it gets a question, answers, sees the progress, and gets the file", async () => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
  const models = (await client.models.list()).data.map(({ id }) => id);
  expect(models).toEqual(expect.arrayContaining(["sequential", "planning", "manus"]));
  const first = { role: "user", content: "Write a greeting." } as const;
  const asked = await client.chat.completions.create({ model: "manus", messages: [first] });
  const question = asked.choices[0]?.message.content ?? "";
  expect(question).toContain("Who is to be greeted?");
  const stream = await client.chat.completions.create({
    model: "manus",
    messages: [first, { role: "assistant", content: question }, { role: "user", content: "Ada" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as Record<string, unknown>));
  const text = deltas.map(({ content }) => content ?? "").join("");
  expect(text).toContain("The greeting is written.");
  expect(deltas.map(({ reasoning_content }) => reasoning_content ?? "").join("")).toContain("str_replace_editor");
  expect([chunks[0]?.id, chunks.at(-2)?.choices[0]?.finish_reason]).toEqual([asked.id, "stop"]);
  expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
  const [, link = ""] = /\[greeting\.txt\]\((http[^)]+)\)/.exec(text) ?? [];
  expect(await (await fetch(link)).text()).toBe("Hello, Ada!\n");
});

const flowCall = { name: "sequential", arguments: { task: "Write a greeting.", agents: ["manus"] } };

async function fileOf({ content }: { content?: unknown }): Promise<string> {
  const blocks = content as { type: string; name?: string; uri?: string }[];
  const link = blocks.find(({ type }) => type === "resource_link");
  return `${link?.name}: ${await (await fetch(link?.uri ?? "")).text()}`;
}

test("a stock MCP client calls a flow: its person answers, progress is reported, and the file is linked", async () => {
  const capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: "stock", version: "1" }, { capabilities, versionNegotiation: { mode: "auto" } });
  client.setRequestHandler("elicitation/create", ({ params }) => {
    expect(params.message).toContain("Who is to be greeted?");
    return { action: "accept" as const, content: { answer: "Grace" } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["sequential", "planning", "manus"]));
  const told: string[] = [];
  const result = await client.callTool(flowCall, { onprogress: ({ message = "" }) => void told.push(message) });
  expect(result.structuredContent).toMatchObject({ status: "completed", answer: "The greeting is written." });
  expect(told.length).toBeGreaterThan(0);
  expect(await fileOf(result)).toBe("greeting.txt: Hello, Grace!\n");
  await client.close();
});

test("a stock MCP client of the former revision gets the question as a result, and its model answers it", async () => {
  const client = new Client({ name: "stock", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  const asked = await client.callTool(flowCall);
  const { id, status } = asked.structuredContent as { id: string; status: string };
  expect(status).toBe("input-required");
  const result = await client.callTool({ name: "run_answer", arguments: { run_id: id, answer: "Edith" } });
  expect(await fileOf(result)).toBe("greeting.txt: Hello, Edith!\n");
  await client.close();
});

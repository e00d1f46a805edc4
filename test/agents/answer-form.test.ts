import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import OpenAI from "openai";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { startAgent } from "../servers/manus-server.ts";

const schema = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
const task = "How much is it?";
let home: string;
let model: ScriptedModel;
let gateway: GatewayServer;
let manus: ReturnType<typeof startAgent>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "answer-form-"));
  model = await startScriptedModel(({ tools = [] }) =>
    tools.some((tool) => tool.function.name === "create_chat_completion")
      ? { calls: [{ name: "create_chat_completion", args: { response: { total: 42 } } }] }
      : { text: "It is 42." },
  );
  const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted", SANDBOX: "off" };
  manus = startAgent("manus", { ...env, MANYHANDS_HOME: home, PORT: `${freePort()}` });
  await manus.ready;
  gateway = await startGatewayServer(home, { ...env, MANUS_URL: manus.url });
});

afterAll(async () => {
  await gateway.stop();
  await manus.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

const adapters: Readonly<Record<string, () => Promise<unknown>>> = {
  async REST() {
    const { body } = await gateway.call("/flows/manus", { input: task, outputSchema: schema }, { Prefer: "wait=20" });
    return body.data;
  },
  async MCP() {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    const { structuredContent } = await client.callTool({ name: "manus", arguments: { task, output_schema: schema } });
    await client.close();
    return (structuredContent as { data?: unknown }).data;
  },
  async OpenAI() {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
    const { choices } = await client.chat.completions.create({
      model: "manus",
      messages: [{ role: "user", content: task }],
      response_format: { type: "json_schema", json_schema: { name: "total", schema } },
    });
    return JSON.parse(choices[0]?.message.content ?? "");
  },
};

for (const [adapter, ask] of Object.entries(adapters)) {
  test(`an agent asked by ${adapter} gets the schema of its answer, and answers in it without conversion`, async () => {
    const before = model.requests.length;
    expect(await ask()).toEqual({ total: 42 });
    // No second model call converts the answer into the form.
    expect(model.requests.length - before).toBe(1);
  });
}

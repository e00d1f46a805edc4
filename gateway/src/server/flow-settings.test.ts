import { expect, test } from "bun:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { AgentInput } from "manyhands/internal/core/runs/task";
import { settingsOf } from "manyhands/internal/flow/flow-request";
import { connectAgent } from "../tasks/a2a-agent-client.ts";
import { echo, startGateway, type TestFlow } from "../testing/gateway.ts";

const set = { agents: ["swe"], options: { approve: true } };
/** Data of a task that looks like settings. */
const alike = { agents: ["manus"], options: { approve: false } };

/** A flow that answers what was set for it, and what data came with the task. */
const mirror: TestFlow = {
  runnable: { ...echo, name: "mirror", kind: "mirror", team: ["swe"], admit: settingsOf },
  async execute(_, input) {
    const { flow, message } = input as AgentInput;
    const data = message.parts.flatMap((part) => (part.type === "data" ? [part.data] : []));
    return { answer: JSON.stringify({ flow, data }) };
  },
};

test("every adapter puts a flow's settings into the message's metadata and leaves the task's data alone", async () => {
  await using gateway = await startGateway({ flows: [mirror] });
  const headers = { "content-type": "application/json" };
  const post = async (path: string, body: object, more: Record<string, string> = {}) =>
    (
      await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      })
    ).json();
  const newest = async () => {
    const [run] = (await gateway.engine.list({ kind: "mirror", limit: 1 })).runs;
    if (run === undefined) throw new Error("no run was started");
    const { message } = run.input as AgentInput;
    return { output: JSON.parse((run.output as { answer: string }).answer), metadata: message.metadata };
  };
  const metadata = { "manyhands/flow": set };

  await post("/flows/mirror", { input: { text: "Go", data: alike }, ...set }, { prefer: "wait=10" });
  expect(await newest()).toEqual({ output: { flow: set, data: [alike] }, metadata });

  await post("/flows/mirror", { input: { text: "Go", data: alike } }, { prefer: "wait=10" });
  expect(await newest()).toEqual({ output: { flow: {}, data: [alike] }, metadata: undefined });

  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  await client.callTool({ name: "mirror", arguments: { task: "Go", ...set } });
  await client.close();
  expect(await newest()).toEqual({ output: { flow: set, data: [] }, metadata });

  await post("/v1/chat/completions", { model: "mirror", messages: [{ role: "user", content: "Go" }] });
  expect(await newest()).toMatchObject({ output: { flow: { agents: ["swe"] }, data: [] } });

  const agent = await connectAgent(`${gateway.url}/a2a/mirror`, undefined);
  const signal = AbortSignal.timeout(60_000);
  for await (const _ of agent.send({ text: "Go", flow: set }, { signal }));
  expect(await newest()).toEqual({ output: { flow: set, data: [] }, metadata });

  const wire = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Go" }, { data: alike }] };
  const request = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: wire } };
  await post("/a2a/mirror", request);
  expect(await newest()).toEqual({ output: { flow: {}, data: [alike] }, metadata: undefined });
});

test("the same key of a caller with other settings is another request, which is refused", async () => {
  await using gateway = await startGateway({ flows: [mirror] });
  const begin = async (options: object) =>
    (
      await fetch(`${gateway.url}/flows/mirror`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": "k", prefer: "wait=10" },
        body: JSON.stringify({ input: "Go", options }),
      })
    ).status;
  expect([await begin({ a: 1 }), await begin({ a: 1 }), await begin({ a: 2 })]).toEqual([200, 200, 409]);
});

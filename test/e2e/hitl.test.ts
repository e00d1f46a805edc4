import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const hitl = "https://kagent.dev/extensions/hitl/v1";
const args = { command: "create", path: "greeting.txt", file_text: "Hello!\n" };

let home: string;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "hitl-"));
  await writeFile(join(home, "manyhands.toml"), '[agents.manus]\napprove = ["str_replace_editor"]\n');
  model = await startScriptedModel(({ messages }) =>
    messages.some(({ role }) => role === "tool")
      ? { text: "It is written." }
      : { calls: [{ name: "str_replace_editor", args }] },
  );
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  manus = startManus({ MANYHANDS_HOME: home, PORT: `${freePort()}`, SANDBOX: "off", ...scripted });
  await manus.ready;
  gateway = await startGatewayServer(home, { MANUS_URL: manus.url, ...scripted });
}, 60_000);

afterAll(async () => {
  await Promise.all([gateway.stop("SIGKILL"), manus.stop("SIGKILL")]);
  await model.close();
  await rm(home, { recursive: true });
});

for (const name of ["manus", "sequential"]) {
  test(`a decision in kagent's form at the gateway's ${name} reaches the agent whose call it is about`, async () => {
    const headers = { "A2A-Version": "1.0", "A2A-Extensions": hitl };
    const send = async (message: object) => {
      const params = { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", ...message } };
      const rpc = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
      return (await gateway.call(`/a2a/${name}`, rpc, headers)).body;
    };
    const metadata = name === "manus" ? {} : { "manyhands/flow": { agents: ["manus"] } };
    const asked = (await send({ parts: [{ text: "Write a greeting." }], metadata })).result.task;
    expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const { type, tools, nested } = asked.status.message.metadata[hitl];
    expect([type, tools]).toEqual([
      "tool_approval_request",
      [{ id: expect.any(String), call_id: expect.any(String), name: "manus", args: {} }],
    ]);
    expect(nested).toEqual({
      subagent_name: "manus",
      task_id: expect.any(String),
      context_id: expect.any(String),
      tools: [{ id: expect.any(String), call_id: expect.any(String), name: "str_replace_editor", args }],
    });
    const decide = (id: string) =>
      send({
        taskId: asked.id,
        parts: [{ text: "Approved" }],
        extensions: [hitl],
        metadata: { [hitl]: { type: "tool_approval_response", approvals: [{ id, approved: true }] } },
      });
    for (const id of ["another", tools[0].id]) expect((await decide(id)).error.code).toBe(-32602);
    const done = (await decide(nested.tools[0].id)).result.task;
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(JSON.stringify(done.artifacts)).toContain("greeting.txt");
  }, 60_000);
}

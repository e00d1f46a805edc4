import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { createMemoryStore } from "manyhands/internal/memory/memory-store";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { sqliteRows } from "../../shared/src/memory/sqlite-rows.ts";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const taught = "Reports are written in Danish.";

let home: string;
let model: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "flow-memory-"));
  const rows = sqliteRows(join(home, "memory.db"));
  const memory = createMemoryStore(rows, { entries: 50, entryCharacters: 500 });
  await memory.add("local", { text: taught, kind: "preference", by: "person" });
  await memory.add("somebody-else", { text: "Reports are written in French.", kind: "preference", by: "person" });
  await memory.close();
  model = await startScriptedModel(() => ({ text: "Skrevet." }));
  const env = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    MANYHANDS_MEMORY_PRINCIPALS: "local",
  };
  manus = startManus({ MANYHANDS_HOME: home, PORT: `${freePort()}`, SANDBOX: "off", ...env });
  await manus.ready;
  gateway = await startGatewayServer(home, { MANUS_URL: manus.url, ...env });
}, 60_000);

afterAll(async () => {
  await Promise.all([gateway.stop("SIGKILL"), manus.stop("SIGKILL")]);
  await model.close();
  await rm(home, { recursive: true });
});

test("an agent that a flow asks is shown what its principal's former conversations taught, and the run says so", async () => {
  const request = { input: "Write a report on lamps.", agents: ["manus"] };
  const { body } = await gateway.call("/flows/sequential", request, { Prefer: "wait=60" });
  expect(body.status).toBe("completed");
  const asked = JSON.stringify(model.requests.map((one) => one.body.messages));
  expect(asked).toContain(taught);
  expect(asked).not.toContain("French");
  const tree = await (await fetch(`${gateway.url}/runs/${body.id}/tree`)).text();
  expect(tree).toContain("memory-recalled");
  expect(tree).toContain(taught);
});

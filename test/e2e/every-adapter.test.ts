import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { startChromium } from "manyhands/internal/testing/browser/lean-chromium";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import OpenAI from "openai";
import { plan, plannerForTest } from "../../flows/src/testing/planner.ts";
import { rpc, sseItems, textMessage } from "../a2a/rpc.ts";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { type ReadyProcess, startReady } from "../servers/ready-process.ts";

const main = resolve(import.meta.dir, "../../gateway/src/main.ts");
const agent = "sdk-sample";
const task = "ask and paint it";

let home: string;
let model: ScriptedModel;
let gateway: GatewayServer;
let sample: ReadyProcess;
let mcp: Client;
let openai: OpenAI;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "every-adapter-"));
  model = await startScriptedModel(plannerForTest({ plans: [plan({ text: task, agent })] }));
  const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  [gateway, sample] = await Promise.all([
    startGatewayServer(home, env),
    startReady([process.execPath, resolve(import.meta.dir, "../servers/sdk-agent.fixture.ts")]),
  ]);
  await gateway.call("/agents", { url: sample.url });
  mcp = new Client({ name: "test", version: "1" });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
});

afterAll(async () => {
  await mcp.close();
  await Promise.all([gateway.stop("SIGKILL"), sample.stop("SIGKILL")]);
  await model.close();
  await rm(home, { recursive: true });
});

/** An adapter under test: the state of a waiting run there, and what can be done with it. */
type Adapter = {
  /** Starts a run and returns its id once it asks something. */
  start(): Promise<string>;
  /** Its state, in the words all adapters share. */
  state(id: string): Promise<string>;
  answer(id: string, text: string): Promise<unknown>;
  cancel(id: string): Promise<unknown>;
};

async function newest(): Promise<string> {
  return (await gateway.call("/runs?limit=1")).body.runs[0].id;
}

async function commandLine(...args: string[]): Promise<string> {
  const env = {
    ...bareEnvironment(),
    MANYHANDS_HOME: join(home, "state"),
    GATEWAY_PORT: new URL(gateway.url).port,
  };
  const options = { cwd: home, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([process.execPath, main, ...args], options);
  const [out] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return out;
}

async function a2a(id: string, method: string, params: object) {
  const { name } = (await gateway.call(`/runs/${id}`)).body;
  const { body } = await rpc(`${gateway.url}/a2a/${name}`, method, params);
  if (body.error) throw new Error(body.error.message);
  return body.result;
}

const adapters: Readonly<Record<string, Adapter>> = {
  REST: {
    start: async () => (await gateway.call(`/flows/${agent}`, { input: task }, { Prefer: "wait=10" })).body.id,
    state: async (id) => (await gateway.call(`/runs/${id}`)).body.status,
    async answer(id, input) {
      await gateway.call(`/runs/${id}/answer`, { input });
      await until(async () => (await this.state(id)) === "completed");
    },
    cancel: (id) => gateway.call(`/runs/${id}/cancel`, {}),
  },
  A2A: {
    start: async () => (await rpc(`${gateway.url}/a2a/${agent}`, "SendMessage", textMessage(task))).body.result.task.id,
    state: async (id) => stateName((await a2a(id, "GetTask", { id })).status.state),
    answer: (taskId, text) => a2a(taskId, "SendMessage", textMessage(text, { taskId })),
    cancel: (id) => a2a(id, "CancelTask", { id }),
  },
  MCP: {
    start: async () => {
      await mcp.callTool({ name: agent, arguments: { task } });
      return newest();
    },
    state: async (run_id) => {
      const { structuredContent } = await mcp.callTool({ name: "run_status", arguments: { run_id } });
      return String((structuredContent as { status: string }).status);
    },
    answer: (run_id, answer) => mcp.callTool({ name: "run_answer", arguments: { run_id, answer } }),
    cancel: (run_id) => mcp.callTool({ name: "run_cancel", arguments: { run_id } }),
  },
  "the command line": {
    start: async () => {
      await commandLine("flow", "sequential", "--agents", agent, task);
      return newest();
    },
    state: async (id) => {
      const shown = (await commandLine("runs", "show", id, "--json")).trimEnd().split("\n").at(-1) ?? "";
      return JSON.parse(shown).state;
    },
    answer: (id, text) => commandLine("runs", "answer", id, text),
    cancel: (id) => commandLine("runs", "cancel", id),
  },
};

function stateName(state: string): string {
  return state.replace("TASK_STATE_", "").toLowerCase().replaceAll("_", "-");
}

async function statesOf(id: string): Promise<string[]> {
  return Promise.all(Object.values(adapters).map((adapter) => adapter.state(id)));
}

const all = (state: string) => Object.keys(adapters).map(() => state);
const names = Object.keys(adapters);

for (const [index, [name, adapter]] of Object.entries(adapters).entries()) {
  const [answering = "", canceling = ""] = [1, 2].map((further) => names[(index + further) % names.length]);

  test(`a run started over ${name} is one run over every adapter: one answered over ${answering}, another canceled over ${canceling}`, async () => {
    const id = await adapter.start();
    expect(await statesOf(id)).toEqual(all("input-required"));
    await adapters[answering]?.answer(id, "blue");
    expect(await statesOf(id)).toEqual(all("completed"));
    expect((await gateway.call(`/runs/${id}`)).body.answer).toContain("Done: blue");

    const other = await adapter.start();
    await adapters[canceling]?.cancel(other);
    expect(await statesOf(other)).toEqual(all("canceled"));
  });
}

test("a chat is also such a run: its question is answered over REST, and it is in every list", async () => {
  await openai.chat.completions.create({ model: agent, messages: [{ role: "user", content: task }] });
  const id = await newest();
  expect(await statesOf(id)).toEqual(all("input-required"));
  await adapters.REST?.answer(id, "green");
  expect(await statesOf(id)).toEqual(all("completed"));
  const { tasks } = (await rpc(`${gateway.url}/a2a/${agent}`, "ListTasks", {})).body.result;
  expect(tasks[0].id).toBe(id);
  const [listed] = JSON.parse(await commandLine("runs", "--json"));
  expect(listed).toMatchObject({ id, of: agent, state: "completed" });
  const [flow] = JSON.parse(await commandLine("runs", "--flow", "sequential", "--json"));
  expect((await gateway.call("/runs?name=sequential")).body.runs[0].id).toBe(flow.id);
});

/** A console page that shows a run's conversation; `await using` closes it. */
async function consoleOf(id: string) {
  const { contextId } = (await gateway.call(`/runs/${id}`)).body;
  const browser = await startChromium();
  const page = await browser.newPage();
  await page.goto(`${gateway.url}/#/c/${contextId}`);
  return { page, [Symbol.asyncDispose]: () => browser.close() };
}

/** A call of A2A 0.3, at the same address as the others. */
async function former(name: string, method: string, params: object) {
  const headers = { "A2A-Version": "0.3" };
  return (await rpc(`${gateway.url}/a2a/${name}`, method, params, { headers })).body.result;
}

/** The numbers of the events in a stream that has ended. */
async function numbersOf(response: Response): Promise<number[]> {
  const items = await Array.fromAsync(sseItems(response));
  return items.flatMap(({ id }) => (id === undefined ? [] : [id]));
}

test("a flow's run started in a chat is visible through every adapter while it asks and when it is done", async () => {
  const first = { role: "user", content: task } as const;
  const chat = await openai.chat.completions.create({ model: "planning", messages: [first], stream: true });
  const chunks = await Array.fromAsync(chat);
  const question = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
  const id = chunks[0]?.id.replace("chatcmpl-", "") ?? "";
  expect(question).toContain("Which colour?");

  expect(await statesOf(id)).toEqual(all("input-required"));
  expect((await gateway.call(`/runs/${id}`)).body.question).toBe(question);
  expect((await former("planning", "tasks/get", { id })).status).toMatchObject({
    state: "input-required",
    message: { parts: [{ kind: "text", text: question }] },
  });
  await using seen = await consoleOf(id);
  await seen.page.getByText("Which colour?").first().waitFor();
  await seen.page.locator(".plan").getByRole("img", { name: "Running" }).waitFor();
  const events = await fetch(`${gateway.url}/runs/${id}/events`);

  const messages = [first, { role: "assistant", content: question }, { role: "user", content: "red" }] as const;
  const { choices, ...told } = await openai.chat.completions.create({ model: "planning", messages: [...messages] });
  expect([told.id, choices[0]?.message.content]).toEqual([chunks[0]?.id ?? "", expect.stringContaining("Done: red")]);

  expect(await statesOf(id)).toEqual(all("completed"));
  const run = (await gateway.call(`/runs/${id}`)).body;
  expect(choices[0]?.message.content).toStartWith(run.answer);
  const answered = (result: { artifacts: { name: string; parts: { text?: string }[] }[] }) =>
    result.artifacts.find(({ name }) => name === "answer")?.parts[0]?.text;
  expect(answered(await a2a(id, "GetTask", { id }))).toBe(run.answer);
  expect(answered(await former("planning", "tasks/get", { id }))).toBe(run.answer);
  const { structuredContent } = await mcp.callTool({ name: "run_status", arguments: { run_id: id } });
  expect(structuredContent).toEqual(run);
  expect(await commandLine("runs", "show", id)).toContain(run.answer);
  await seen.page.locator('.head [data-state="completed"]').waitFor();
  await seen.page.getByText(run.answer).first().waitFor();
  await seen.page.locator(".plan").getByRole("img", { name: "Completed" }).waitFor();
  expect(await numbersOf(events)).toEqual(Array.from({ length: run.lastEvent }, (_, index) => index + 1));
});

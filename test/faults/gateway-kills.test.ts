import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type AgentServerForTest, agentServerForTest } from "manyhands/internal/testing/a2a/agent-server";
import { startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { sweepSize } from "manyhands/internal/testing/sweep-size";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";
import { startManus } from "../servers/manus-server.ts";

let home: string;
let agent: AgentServerForTest;
const gateways: GatewayServer[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "gateway-kills-"));
  agent = await agentServerForTest({ script: worker });
});

afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.stop("SIGKILL")));
  await agent[Symbol.asyncDispose]();
  await rm(home, { recursive: true });
});

/** Does its task in a moment, or asks first. */
const worker: Parameters<typeof agentServerForTest>[0]["script"] = ({ messages }) => {
  const text = JSON.stringify(messages.filter(({ role }) => role === "user"));
  const answer = messages.findLast(({ role }) => role === "tool")?.content;
  if (text.includes("ask first") && answer === undefined)
    return { calls: [{ name: "ask_human", args: { inquire: "Which?" } }] };
  return { text: answer === undefined ? "it is done" : `it is ${String(answer).trim()}`, delayMs: 100 };
};

async function gateway(folder: string, env: Record<string, string> = {}): Promise<GatewayServer> {
  const started = await startGatewayServer(folder, {
    MANUS_URL: agent.url,
    MANYHANDS_GATEWAY_PATIENCE_SECONDS: "20",
    ...env,
  });
  gateways.push(started);
  return started;
}

async function typesOf({ url }: GatewayServer, id: string): Promise<{ types: string[]; seqs: number[] }> {
  const text = await (await fetch(`${url}/runs/${id}/events`)).text();
  const events = text.split("\n").flatMap((line) => {
    const data = line.startsWith("data: ") ? JSON.parse(line.slice(6)) : undefined;
    return data?.seq === undefined ? [] : [data as { seq: number; event: { type: string } }];
  });
  return { types: events.map(({ event }) => event.type), seqs: events.map(({ seq }) => seq) };
}

const count = (types: readonly string[], type: string) => types.filter((one) => one === type).length;

/**
 * Repeats a request until a gateway answers it: a sender cannot know whether the gateway that died
 * had received it.
 */
async function insistently(current: () => Promise<GatewayServer>, path: string, body: unknown, key: string) {
  for (;;) {
    try {
      const { status, body: answer } = await (await current()).call(path, body, { "Idempotency-Key": key });
      if (status < 500) return answer;
    } catch {
      // The connection broke with the gateway.
    }
    await Bun.sleep(10);
  }
}

/**
 * Starts a flow at a gateway that kills itself at this durable write, and finishes it at the next
 * one.
 */
async function throughCrash(at: string): Promise<boolean> {
  const folder = join(home, at);
  let crashed = false;
  let isOver = false;
  const first = await gateway(folder, { CRASH_AT: at });
  let current = Promise.resolve(first);
  void first.exited.then((code) => {
    if (isOver) return;
    crashed = code === 137;
    if (crashed) current = gateway(folder);
  });
  const { runId } = await insistently(
    () => current,
    "/flows/sequential",
    { input: at, agents: ["manus", "manus"] },
    "k",
  );
  await until(async () => {
    try {
      return (await (await current).call(`/runs/${runId}`)).body.status === "completed";
    } catch {
      return false;
    }
  });
  const { types, seqs } = await typesOf(await current, runId);
  expect([at, seqs]).toEqual([at, seqs.map((_, index) => index + 1)]);
  const counts = ["agent-asked", "agent-answered", "run-ended"].map((type) => count(types, type));
  expect([at, ...counts]).toEqual([at, 2, 2, 1]);
  expect([at, (await (await current).call("/runs")).body.total]).toEqual([at, 1]);
  isOver = true;
  await (await current).stop("SIGKILL");
  return crashed;
}

test("a gateway killed at a durable write: a repeated start is the same run, and each agent is asked once", async () => {
  const few = ["1", "1+", "3", "4+"];
  const points = sweepSize({ quick: few, usual: [...few, "6", "7+"] });
  const crashes: boolean[] = [];
  const lane = async () => {
    for (let at = points.shift(); at !== undefined; at = points.shift()) crashes.push(await throughCrash(at));
  };
  const flows = points.length;
  await Promise.all([lane(), lane()]);
  // Simultaneous writes share one commit, so the last points may be after the end.
  expect(crashes.filter((crashed) => crashed).length).toBeGreaterThanOrEqual(flows - 2);
  expect(await agent.tasks()).toHaveLength(2 * flows);
  expect(agent.model.requests).toHaveLength(2 * flows);
});

test("a gateway killed while the agent works: it finds what the agent finished meanwhile, and the model is not asked again", async () => {
  const first = await gateway(home);
  const { runId } = (await first.call("/flows/manus", { input: "work" })).body;
  await until(async () => (await agent.tasks()).length === 1);
  await first.stop("SIGKILL");
  await until(async () => (await agent.tasks())[0]?.status === "completed");
  const second = await gateway(home);
  await until(async () => (await second.call(`/runs/${runId}`)).body.status === "completed");
  expect((await second.call(`/runs/${runId}`)).body.answer).toBe("it is done");
  expect([agent.model.requests.length, (await agent.tasks()).length]).toEqual([1, 1]);
});

test("answers survive a kill: the first counts, once, however often it is sent, and none is accepted after the end", async () => {
  const first = await gateway(home);
  const { id } = (await first.call("/flows/manus", { input: "ask first" }, { Prefer: "wait=20" })).body;
  const answer = (server: GatewayServer, input: string, key: string) =>
    server.call(`/runs/${id}/answer`, { input }, { "Idempotency-Key": key });
  expect((await answer(first, "blue", "a-1")).status).toBe(202);
  await first.stop("SIGKILL");
  const second = await gateway(home);
  const again = await answer(second, "blue", "a-1");
  expect([202, 409]).toContain(again.status);
  await until(async () => (await second.call(`/runs/${id}`)).body.status === "completed");
  expect((await second.call(`/runs/${id}`)).body.answer).toBe("it is blue");
  expect((await answer(second, "red", "a-2")).body.code).toBe("run_ended");
  const { types } = await typesOf(second, id);
  expect([count(types, "question-asked"), count(types, "run-ended")]).toEqual([1, 1]);
});

for (const order of [
  ["agent", "gateway"],
  ["gateway", "agent"],
])
  test(`${order.join(" and then ")} killed in the middle of a task: it finishes as the same task`, async () => {
    const asked = Promise.withResolvers<void>();
    const model = await startScriptedModel(() => {
      asked.resolve();
      return { text: "it is done", delayMs: 400 };
    });
    const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
    const manusHome = join(home, "manus");
    await mkdir(manusHome);
    const settings = { MANYHANDS_HOME: manusHome, PORT: `${freePort()}`, SANDBOX: "off", ...scripted };
    let manus = startManus(settings);
    await manus.ready;
    const first = await gateway(home, { MANUS_URL: manus.url });
    try {
      const { runId } = (await first.call("/flows/manus", { input: "work" })).body;
      await asked.promise;
      for (const one of order) await (one === "agent" ? manus : first).stop("SIGKILL");
      manus = startManus(settings);
      const second = await gateway(home, { MANUS_URL: manus.url });
      await until(async () => (await second.call(`/runs/${runId}`)).body.status === "completed", 30_000);
      const { types } = await typesOf(second, runId);
      expect(["agent-asked", "agent-accepted", "run-ended"].map((type) => count(types, type))).toEqual([1, 1, 1]);
      // The call in flight was lost with the agent; nothing else is asked again.
      expect(model.requests).toHaveLength(2);
    } finally {
      await manus.stop("SIGKILL");
      await model.close();
    }
  });

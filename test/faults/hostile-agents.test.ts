import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BadAgent,
  type BadAnswer,
  badAgentForTest,
  badArtifact,
  badStream,
  badTask,
  badUpdate,
} from "../../shared/src/testing/a2a/bad-agent.ts";
import { type AgentServer, startAgentServer } from "../a2a/agent-server.ts";
import { type GatewayServer, startGatewayServer, until } from "../servers/gateway-server.ts";

let home: string;
let gateway: GatewayServer;
let good: AgentServer;
const bad: BadAgent[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "hostile-agents-"));
  good = await startAgentServer();
  const hurry = { MANYHANDS_GATEWAY_PATIENCE_SECONDS: "1", MANYHANDS_GATEWAY_CHECK_SECONDS: "1" };
  gateway = await startGatewayServer(home, hurry);
  expect((await gateway.call("/agents", { url: good.url, name: "good" })).status).toBe(201);
});

afterAll(async () => {
  await gateway.stop("SIGKILL");
  for (const agent of bad) agent[Symbol.dispose]();
  await good.stop();
  await rm(home, { recursive: true });
});

const working = badTask("WORKING");
const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] });
const hundredMegabytes = 100 * 1024 * 1024;

/** A body of this size in small pieces, each after a pause, between two texts. */
function longBody({
  bytes,
  pauseMs = 0,
  head = "",
  tail = "",
}: Record<"bytes", number> & Partial<Record<"pauseMs", number>> & Partial<Record<"head" | "tail", string>>) {
  const piece = new Uint8Array(Math.min(bytes, 1 << 20)).fill(97);
  async function* pieces() {
    yield new TextEncoder().encode(head);
    for (let sent = 0; sent < bytes; sent += piece.byteLength) {
      if (pauseMs > 0) await Bun.sleep(pauseMs);
      yield piece;
    }
    yield new TextEncoder().encode(tail);
  }
  const iterator = pieces();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done: isOver, value } = await iterator.next();
      if (isOver) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return();
    },
  });
}

const json = { "Content-Type": "application/json" };
const html = () => new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "Content-Type": "text/html" } });

type Bad = {
  readonly ours?: boolean;
  readonly answers: Record<string, BadAnswer>;
  readonly get?: (path: string) => Response;
  readonly budget?: { readonly wallMs: number };
  readonly comesTo: object;
};

const disorder = [
  { task: working },
  badUpdate("WORKING", 5),
  badUpdate("FAILED", 6, "someone-elses"),
  badUpdate("WORKING", 2),
  badUpdate("WORKING", 5),
  badUpdate("COMPLETED", 7),
  badUpdate("FAILED", 8),
];
const endsSoon: BadAnswer = (_, n) => (n < 3 ? working : done);
const completed = { status: "completed", answer: "the answer" };
const failed = (code: string, words: string) => ({
  status: "failed",
  error: { code, message: expect.stringContaining(words) },
});

/** What each agent does, and the outcome of a run that asks it. */
const cases: Readonly<Record<string, Bad>> = {
  disordered: {
    ours: true,
    answers: { SubscribeToTask: () => badStream(...disorder), GetTask: () => done },
    comesTo: completed,
  },
  closing: {
    ours: true,
    answers: {
      SubscribeToTask: () => badStream({ task: working }, 'data: {"jsonrpc":"2.0","id":1,"res'),
      GetTask: endsSoon,
    },
    comesTo: completed,
  },
  foreign: {
    answers: { GetTask: () => ({ ...done, id: "someone-elses" }) },
    comesTo: failed("unavailable", "another task"),
  },
  truncated: {
    answers: { GetTask: () => new Response('{"jsonrpc":"2.0","id":1,"resu', { headers: json }) },
    comesTo: failed("unavailable", "did not answer in A2A"),
  },
  html: { answers: { SendMessage: html }, comesTo: failed("unavailable", "502") },
  hanging: {
    answers: { GetTask: () => new Promise(() => undefined) },
    budget: { wallMs: 1_500 },
    comesTo: failed("time_limit", "did not answer within"),
  },
  dripping: {
    answers: { GetTask: () => new Response(longBody({ bytes: 1_000, pauseMs: 1_000 }), { headers: json }) },
    budget: { wallMs: 1_500 },
    comesTo: failed("time_limit", "did not answer within"),
  },
  huge: {
    answers: {
      GetTask: () =>
        new Response(
          longBody({ bytes: hundredMegabytes, head: '{"jsonrpc":"2.0","id":1,"result":{"a":"', tail: '"}}' }),
          {
            headers: json,
          },
        ),
    },
    comesTo: failed("too_large", "larger than"),
  },
  "huge-file": {
    answers: {
      GetTask: () => {
        const url = `${bad.find(({ url }) => url === urls.get("huge-file"))?.url}/huge.bin`;
        const file = badArtifact({ url, filename: "huge.bin", mediaType: "application/octet-stream" }, "file");
        return badTask("COMPLETED", { artifacts: [file, badArtifact({ text: "the answer" })] });
      },
    },
    get: () => new Response(longBody({ bytes: hundredMegabytes })),
    comesTo: { ...completed, files: [] },
  },
};
const urls = new Map<string, string>();

test("an agent that breaks the protocol fails only its own run, with the cause, while others are served", async () => {
  for (const [name, { ours = false, answers, get }] of Object.entries(cases)) {
    const usual = { SendMessage: () => ({ task: working }), CancelTask: () => badTask("CANCELED") };
    const agent = badAgentForTest({ ours, ...(get && { get }) }, { ...usual, ...answers });
    bad.push(agent);
    urls.set(name, agent.url);
    expect((await gateway.call("/agents", { url: agent.url, name })).status).toBe(201);
  }
  const runs = Object.entries(cases).map(async ([name, { budget, comesTo }]) => {
    const request = { input: "Do it.", ...(budget && { budget }) };
    const { body } = await gateway.call(`/flows/${name}`, request, { Prefer: "wait=60" });
    expect([name, body]).toMatchObject([name, comesTo]);
  });
  const served: number[] = [];
  const others = (async () => {
    for (let n = 0; n < 10; n++) {
      const from = performance.now();
      const { body } = await gateway.call("/flows/good", { input: "answer yes" }, { Prefer: "wait=20" });
      expect(body).toMatchObject({ status: "completed", answer: "yes" });
      served.push(performance.now() - from);
    }
  })();
  await Promise.all([...runs, others]);
  expect(served.sort((one, other) => one - other)[5]).toBeLessThan(10_000);
  const { state, storage } = (await gateway.call("/healthz")).body;
  expect([state, storage.ok]).toEqual([undefined, true]);
});

test("an agent that keeps failing is not called, as runs and the list of agents show, and is used once it is back", async () => {
  let isWell = false;
  const agent = badAgentForTest({}, { SendMessage: () => (isWell ? { task: done } : html()), GetTask: () => done });
  bad.push(agent);
  expect((await gateway.call("/agents", { url: agent.url, name: "moody" })).status).toBe(201);
  const ask = async () => (await gateway.call("/flows/moody", { input: "Do it." }, { Prefer: "wait=30" })).body;
  const known = async () =>
    (await gateway.call("/agents")).body.agents.find(({ name }: { name: string }) => name === "moody");
  await Promise.all([ask(), ask(), ask(), ask(), ask()]);
  expect(await known()).toMatchObject({
    health: "up",
    breaker: expect.stringMatching(/open|trying/),
    reason: expect.stringContaining("502"),
  });
  const calls = agent.count("SendMessage");
  expect(calls).toBeLessThanOrEqual(7);
  expect(await ask()).toMatchObject(failed("unavailable", "502"));
  expect(agent.count("SendMessage") - calls).toBeLessThanOrEqual(2);
  isWell = true;
  await until(async () => (await ask()).status === "completed");
  expect(await known()).toMatchObject({ breaker: "closed" });
  expect(await known()).not.toHaveProperty("reason");
});

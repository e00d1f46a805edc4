import { expect, test } from "bun:test";
import { connect } from "node:net";
import type { Engine, RunRecord } from "manyhands/internal/core/runs/engine";
import type { RunView } from "manyhands/internal/runs/run-view";
import { serveCard } from "../testing/card-server.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";
import { changeFrames } from "./change-stream.ts";

const pace = { gapMs: 20, agentsEveryMs: 20, heartbeatMs: 200 };

type Told = {
  readonly runs: readonly { readonly id: string; readonly status: string; readonly contextId: string }[];
  readonly more?: true;
  readonly agents?: true;
};

/** The changes of a caller, one after the other. */
async function changesOf({ url }: TestGateway, token?: string) {
  const stop = new AbortController();
  const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/changes`, { headers, signal: stop.signal });
  const decoder = new TextDecoder();
  let text = "";
  const chunks = (response.body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  const next = async (): Promise<Told> => {
    for (;;) {
      const [block, rest] = text.split(/\n\n(.*)/s);
      if (rest !== undefined) {
        text = rest;
        if (block?.startsWith("data: ")) return JSON.parse(block.slice(6)) as Told;
        continue;
      }
      const { value, done } = await chunks.next();
      if (done === true) throw new Error("The stream ended.");
      text += decoder.decode(value, { stream: true });
    }
  };
  /** Reads on until a change is as expected. */
  const until = async (isIt: (told: Told) => boolean) => {
    for (let told = await next(); ; told = await next()) if (isIt(told)) return told;
  };
  return { next, until, [Symbol.dispose]: () => stop.abort() };
}

async function start({ url }: TestGateway, input: string, token?: string) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const init = { method: "POST", headers, body: JSON.stringify({ input }) };
  return (await (await fetch(`${url}/flows/echo`, init)).json()) as { runId: string };
}

test("a run is told when it starts, asks and ends, with its state, to its principal and to nobody else", async () => {
  await using gateway = await startGateway({ token: "t", app: { changePace: pace } });
  using ann = await changesOf(gateway, "t-ann");
  using bob = await changesOf(gateway, "t-bob");
  expect(await ann.next()).toEqual({ runs: [] });
  expect(await bob.next()).toEqual({ runs: [] });
  const { runId } = await start(gateway, "ask me", "t-ann");
  const isIn = (status: string) => (told: Told) => told.runs.some((run) => run.id === runId && run.status === status);
  await ann.until(isIn("input-required"));
  const said = { method: "POST", headers: { "Content-Type": "application/json", Authorization: "Bearer t-ann" } };
  await fetch(`${gateway.url}/runs/${runId}/answer`, { ...said, body: '{"input":"yes"}' });
  await ann.until(isIn("completed"));
  const own = await start(gateway, "of bob", "t-bob");
  // What bob hears first is bob's own: nothing of ann's came before it.
  const { runs } = await bob.until((told) => told.runs.length > 0);
  expect(runs.map(({ id }) => id)).toEqual([own.runId]);
});

test("an agent that comes to be known is told", async () => {
  await using gateway = await startGateway({ app: { changePace: pace } });
  using changes = await changesOf(gateway);
  await changes.next();
  await using card = serveCard("Weigher");
  const init = { method: "POST", headers: { "Content-Type": "application/json" } };
  const added = await fetch(`${gateway.url}/agents`, { ...init, body: JSON.stringify({ url: card.url }) });
  expect(added.status).toBe(201);
  expect(await changes.next()).toEqual({ runs: [], agents: true });
});

test("an idle reader gets comments only: less than a kilobyte a minute on the wire, head included", async () => {
  await using gateway = await startGateway({ app: { changePace: pace } });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /changes HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`);
  let read = "";
  const comment = "\r\n: keep-alive\n\n";
  const comments = () => read.split(comment).length - 1;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on("data", (bytes) => {
    read += bytes.toString();
    if (comments() >= 6) resolve();
  });
  await promise;
  socket.destroy();
  const head = read.indexOf(comment);
  const perComment = (read.length - head) / comments();
  // By default one comes every 20 seconds.
  expect(head + 3 * perComment).toBeLessThan(2_000);
  expect(3 * perComment).toBeLessThan(200);
  expect(read.match(/data: /g)).toHaveLength(1);
});

test("a reader that goes ends the waiting for changes", async () => {
  const stop = new AbortController();
  const asked: AbortSignal[] = [];
  const engine: Pick<Engine, "changes"> = {
    async *changes(signal) {
      asked.push(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  };
  const runs = { list: async () => ({ runs: [] as RunRecord[] }), view: () => Promise.reject(new Error("none")) };
  const options = { ...pace, signal: stop.signal };
  const frames = changeFrames({ engine, runs, registry: { list: () => [] } }, "ann", options);
  await frames.next();
  const over = frames.next();
  stop.abort();
  expect((await over).done).toBe(true);
  expect(asked[0]?.aborted).toBe(true);
});

test("a run whose change is seen only after that of a later one is told nevertheless", async () => {
  const stop = new AbortController();
  const changed = (id: string, updatedAt: number) =>
    ({ id, contextId: "c", status: "completed", lastEvent: 1, updatedAt }) as unknown as RunRecord;
  const stored = [changed("first", 10_000)];
  const engine: Pick<Engine, "changes"> = {
    async *changes(signal) {
      for (; !signal.aborted; await Bun.sleep(1)) yield;
    },
  };
  const runs = {
    list: async ({ updatedSince = 0 }: { readonly updatedSince?: number }) => ({
      runs: stored.filter(({ updatedAt }) => updatedAt >= updatedSince).toSorted((a, b) => b.updatedAt - a.updatedAt),
    }),
    view: async (run: RunRecord) => run as unknown as RunView,
  };
  const options = { ...pace, signal: stop.signal };
  const frames = changeFrames({ engine, runs, registry: { list: () => [] } }, "ann", options);
  const told = async () => (await frames.next()).value?.flatMap(({ data }) => (data as Told).runs.map(({ id }) => id));
  expect(await told()).toEqual([]);
  stored.push(changed("later", 12_000));
  expect(await told()).toEqual(["later"]);
  stored.push(changed("overtaken", 11_000));
  const timer = setTimeout(() => stop.abort(), 2_000);
  expect(await told()).toEqual(["overtaken"]);
  clearTimeout(timer);
  stop.abort();
});

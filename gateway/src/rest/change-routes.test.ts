import { expect, spyOn, test } from "bun:test";
import { connect } from "node:net";
import * as sse from "manyhands/internal/http/sse";
import { serveCard } from "../testing/card-server.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";
import { restForTest } from "../testing/rest.ts";
import { changeRoutes } from "./change-routes.ts";
import * as streams from "./change-stream.ts";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

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

test("a reader that goes is let go, and a stream that breaks off does not tell what is only ours", async () => {
  const asked: AbortSignal[] = [];
  const routes = (changes: streams.ChangeDeps["engine"]["changes"]) =>
    restForTest(
      changeRoutes({
        engine: { changes },
        runs: { list: async () => ({ runs: [] }), view: () => Promise.reject(new Error("none")) },
        registry: { list: () => [] },
        changePace: pace,
      }),
    );
  const silent = routes(async function* (signal) {
    asked.push(signal);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  });
  for (const leave of [(reader: Reader) => reader.cancel(), (_: Reader, gone: AbortController) => gone.abort()]) {
    const gone = new AbortController();
    const reader = (await silent.ask("GET", "/changes", { signal: gone.signal })).body?.getReader() as Reader;
    await reader.read();
    await leave(reader, gone);
  }
  expect(asked.map(({ aborted }) => aborted)).toEqual([true, true]);
  const broken = routes(() => ({
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new TypeError("a secret")) }),
  }));
  const text = await (await broken.ask("GET", "/changes")).text();
  expect(text).toContain('"code":"internal"');
  expect(text).not.toContain("secret");
});

test("by default changes are told every second, those of agents every two, and silence is broken every 20 s", async () => {
  using told = spyOn(streams, "changeFrames").mockImplementation(async function* () {});
  using sent = spyOn(sse, "sseResponse");
  await restForTest(changeRoutes({} as never)).ask("GET", "/changes");
  expect(told.mock.calls[0]?.[2]).toMatchObject({ gapMs: 1_000, agentsEveryMs: 2_000 });
  expect(told.mock.calls[0]?.[1]).toBe("ann");
  expect(sent.mock.calls[0]?.[1]).toMatchObject({ heartbeatMs: 20_000 });
});

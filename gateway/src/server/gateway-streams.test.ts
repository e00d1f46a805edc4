import { expect, test } from "bun:test";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { createA2aClient } from "manyhands/internal/a2a/client/client";
import { chatter } from "../testing/chatter.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { startGateway, type TestGateway } from "../testing/gateway.ts";

async function start(gateway: Pick<TestGateway, "url">, flow: string, input: string): Promise<string> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ input }) };
  const { runId } = (await (await fetch(`${gateway.url}/flows/${flow}`, init)).json()) as { runId: string };
  return runId;
}

/** A gateway whose memory is nobody else's, and the bytes that it has of it beside garbage. */
async function startGatewayProcess(): Promise<AsyncDisposable & { readonly url: string; memory(): Promise<number> }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../testing/gateway-process.ts")], {
    stdin: "pipe",
  });
  const lines = createInterface({ input: Readable.fromWeb(child.stdout) })[Symbol.asyncIterator]();
  return {
    url: String((await lines.next()).value),
    async memory() {
      child.stdin.write("\n");
      child.stdin.flush();
      return Number((await lines.next()).value);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await child.exited;
    },
  };
}

/** The whole frames of a stream that may break off, each with its id. */
async function framesOf(
  url: string,
  after: number,
): Promise<{ frames: { id: number; data: string }[]; broke: boolean }> {
  let text = "";
  let broke = false;
  try {
    const response = await fetch(url, { headers: { "Last-Event-ID": String(after) }, keepalive: false });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  } catch {
    broke = true;
  }
  const frames = [...text.matchAll(/id: (\d+)\ndata: (.*)\n\n/g)].map(([, id, data = ""]) => ({
    id: Number(id),
    data,
  }));
  return { frames, broke };
}

test("a stream cut at random bytes fifty times and resumed equals one that never broke", async () => {
  await using gateway = await startGateway({ flows: [chatter] });
  const seed = Math.floor(Math.random() * 1e6);
  const random = { state: seed };
  const next = () => {
    random.state = (random.state * 48_271 + 11) % 2_147_483_647;
    return random.state;
  };
  let cuts = 0;
  await using proxy = await startCuttingProxy(gateway.url, () =>
    cuts < 50 ? 300 + (next() % 30_000) : Number.POSITIVE_INFINITY,
  );
  const id = await start(gateway, "chatter", "tell 1000");
  const told: { id: number; data: string }[] = [];
  for (const deadline = Date.now() + 60_000; !told.at(-1)?.data.includes('"run-ended"'); ) {
    if (Date.now() > deadline) throw new Error(`no end after ${cuts} cuts, seed ${seed}`);
    const { frames, broke } = await framesOf(`${proxy.url}/runs/${id}/events`, told.at(-1)?.id ?? 0);
    told.push(...frames);
    if (broke) cuts++;
  }
  const whole = await framesOf(`${gateway.url}/runs/${id}/events`, 0);
  expect({ seed, cuts, same: Bun.deepEquals(told, whole.frames) }).toEqual({ seed, cuts: 50, same: true });
});

/** A sixteenth of what the hundred would have if what they do not read were kept for them. */
const keptMost = 100e6;

test.each([
  { readers: 100, lines: 4_000 },
  { readers: 1_000, lines: 200 },
])("$readers readers that never read take bounded memory and do not block others", async ({ readers, lines }) => {
  await using gateway = await startGatewayProcess();
  const { hostname, port } = new URL(gateway.url);
  const read = (id: string) => framesOf(`${gateway.url}/runs/${id}/events`, 0);
  // A first run, since what it loads stays.
  await read(await start(gateway, "chatter", "tell 100"));
  const before = await gateway.memory();
  const id = await start(gateway, "chatter", `tell ${lines}`);
  const asked = `GET /runs/${id}/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`;
  const sockets = await Promise.all(
    Array.from({ length: readers }, async () => {
      const socket = await Bun.connect({ hostname, port: Number(port), socket: { data: (it) => it.pause() } });
      socket.write(asked);
      return socket;
    }),
  );
  const reading = read(id);
  const kept: number[] = [];
  do kept.push((await gateway.memory()) - before);
  while ((await Promise.race([reading, Bun.sleep(200)])) === undefined);
  kept.push((await gateway.memory()) - before);
  const { frames } = await reading;
  expect(frames.at(-1)?.data).toContain('"run-ended"');
  expect(frames.length).toBeGreaterThan(lines);
  expect(Math.max(...kept)).toBeLessThan(keptMost);
  for (const socket of sockets) socket.terminate();
});

/**
 * Longer than any server's or proxy's usual patience with `SILENCE_SECONDS=60`; Bun's own is ten.
 */
const silence = Number(process.env.SILENCE_SECONDS ?? 13);

test(
  `${silence} seconds of silence end no stream, through any adapter`,
  async () => {
    await using gateway = await startGateway();
    const id = await start(gateway, "echo", "ask me");
    const gone = AbortSignal.timeout((silence + 17) * 1000);
    const rest = fetch(`${gateway.url}/runs/${id}/events`, { signal: gone }).then((response) => response.text());
    const rpc = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } };
    const headers = { "Content-Type": "application/json", "A2A-Version": "1.0" };
    const a2a = fetch(`${gateway.url}/a2a/echo`, { method: "POST", headers, body: JSON.stringify(rpc), signal: gone });
    const chat = { model: "echo", stream: true, messages: [{ role: "user", content: "sleep" }] };
    const openai = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: JSON.stringify(chat),
    });
    const reader = openai.body?.getReader();
    await Bun.sleep(silence * 1000);
    await (await createA2aClient(`${gateway.url}/a2a/echo`)).answer(id, "yes");
    expect(await rest).toContain(": keep-alive");
    expect(await rest).toContain('"run-ended"');
    expect(await (await a2a).text()).toContain("TASK_STATE_COMPLETED");
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    // The run of a chat whose reader went is given up.
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(20)) {
      const { runs } = await gateway.engine.list({ statuses: ["canceled"], limit: 1 });
      if (runs.length > 0) return;
    }
    throw new Error("the chat's run goes on");
  },
  (silence + 27) * 1000,
);

test("another caller's run looks as if it did not exist, through every operation and adapter", async () => {
  await using gateway = await startGateway({ token: "secret" });
  const as = (who: string) => ({ authorization: `Bearer secret ${who}`, "Content-Type": "application/json" });
  const init = { method: "POST", headers: as("ann"), body: JSON.stringify({ input: "sleep" }) };
  const { runId } = (await (await fetch(`${gateway.url}/flows/echo`, init)).json()) as { runId: string };
  const missing = crypto.randomUUID();
  const rpc = (method: string) => (id: string) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id } });
    return fetch(`${gateway.url}/a2a/echo`, { method: "POST", headers: { ...as("bob"), "A2A-Version": "1.0" }, body });
  };
  const rest = (method: string, verb: string) => (id: string) => {
    const body = method === "POST" ? { body: '{"input": "x"}' } : {};
    return fetch(`${gateway.url}/runs/${id}${verb}`, { method, headers: as("bob"), ...body });
  };
  const ways = [
    rest("GET", ""),
    rest("GET", "/events"),
    rest("POST", "/answer"),
    rest("POST", "/cancel"),
    rest("POST", "/resume"),
  ];
  for (const ask of [...ways, ...["GetTask", "CancelTask", "SubscribeToTask"].map(rpc)]) {
    const [foreign, none] = await Promise.all([ask(runId), ask(missing)]);
    expect(foreign.status).toBe(none.status);
    expect((await foreign.text()).replaceAll(runId, missing)).toBe(await none.text());
  }
  const own = (await (await fetch(`${gateway.url}/runs/${runId}`, { headers: as("ann") })).json()) as {
    status: string;
  };
  expect(["running", "waiting"]).toContain(own.status);
});

test("every adapter refuses other host names and pages of other sites", async () => {
  await using gateway = await startGateway();
  const adapters = [
    "/",
    "/flows",
    "/runs",
    "/agents",
    "/mcp",
    "/v1/models",
    "/a2a/echo/.well-known/agent-card.json",
    "/openapi.json",
    "/console/main.js",
    `/artifacts/${"0".repeat(64)}/x`,
  ];
  for (const adapter of adapters)
    for (const headers of [{ Host: "evil.example" }, { Origin: "http://evil.example" }, { Origin: "null" }])
      expect([adapter, (await fetch(`${gateway.url}${adapter}`, { headers })).status]).toEqual([adapter, 403]);
});

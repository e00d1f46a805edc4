import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { eventually, rpc, type SseItem, sseItems, textMessage, type Wire, wire } from "./rpc.ts";

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ heartbeatMs: 200 });
});
afterAll(() => server.stop());

const journal = { "A2A-Extensions": "urn:manyhands:journal:1" };
const stream = (method: string, params: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(server.url, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    headers: { "A2A-Version": "1.0", "Content-Type": "application/json", ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
const start = async (text: string): Promise<string> =>
  (await rpc(server.url, "SendMessage", textMessage(text, {}, { returnImmediately: true }))).body.result.task.id;
const result = (item: SseItem | undefined): Wire => (item?.data as { result?: unknown } | undefined)?.result;

/** The journal events in stream items, with their positions. */
const told = (items: readonly SseItem[]) =>
  items.flatMap((item) => {
    const { statusUpdate, artifactUpdate } = result(item) ?? {};
    const event = statusUpdate?.metadata?.["manyhands/event"]?.event ?? (artifactUpdate ? "artifact" : undefined);
    return event === undefined ? [] : [{ seq: item.id, type: event === "artifact" ? "artifact-added" : event.type }];
  });
const logOf = async (taskId: string) =>
  (await server.engine.events(taskId)).map(({ seq, event }) => ({ seq, type: event.type }));

test("a stream starts with the task, has every event in order and ends with the final one", async () => {
  const items = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", textMessage("work 5"), journal)));
  const { task } = result(items[0]);
  expect(task.metadata["manyhands/seq"]).toBe(items[0]?.id);
  const log = await logOf(task.id);
  expect(told(items)).toEqual(log.filter(({ seq }) => seq > (items[0]?.id ?? 0)));
  expect(result(items.at(-1)).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
});

test("peers without the extension get short status texts, no events and no progress", async () => {
  const items = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", textMessage("type one two"))));
  expect(JSON.stringify(items)).not.toContain("manyhands/event");
  expect(JSON.stringify(items)).not.toContain("manyhands/progress");
  const work = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", textMessage("work 1"))));
  const thoughts = work.flatMap((item) => result(item).statusUpdate?.status.message?.parts[0].text ?? []);
  expect(thoughts).toEqual(["bash: 1"]);
});

test("live progress is sent to those who asked for it and is not part of the log", async () => {
  const items = await Array.fromAsync(
    sseItems(await stream("SendStreamingMessage", textMessage("type a b c d"), journal)),
  );
  const deltas = items.flatMap((item) => result(item).statusUpdate?.metadata?.["manyhands/progress"] ?? []);
  expect(deltas.map(({ text }: { text: string }) => text).join("")).toBe("abcd");
  expect(
    items
      .filter((item) => result(item).statusUpdate?.metadata?.["manyhands/progress"])
      .every(({ id }) => id === undefined),
  ).toBe(true);
});

test("who begins to watch in the middle of an answer sees its first words once, and who comes back none again", async () => {
  const words = Array.from({ length: 100 }, (_, n) => `w${n}`);
  const first = sseItems(await stream("SendStreamingMessage", textMessage(`draft ${words.join(" ")}`), journal));
  const progress = (item: SseItem | undefined) => result(item).statusUpdate?.metadata?.["manyhands/progress"]?.text;
  let place = 0;
  let id = "";
  let item = (await first.next()).value;
  for (; progress(item) === undefined; item = (await first.next()).value) {
    place = item?.id ?? place;
    id ||= result(item).task?.id ?? "";
  }
  const watched = async (headers: Record<string, string> = {}) =>
    (await Array.fromAsync(sseItems(await stream("SubscribeToTask", { id }, { ...journal, ...headers })))).flatMap(
      (seen) => progress(seen) ?? [],
    );
  const [late, asking, back] = await Promise.all([
    watched(),
    watched({ "Last-Event-ID": "0" }),
    watched({ "Last-Event-ID": `${place}` }),
  ]);
  expect([late, asking]).toEqual([words, words]);
  expect(back).toEqual(words.slice(words.length - back.length));
  expect(back.length).toBeLessThan(words.length);
});

test("a stream ends when the agent asks; a subscription stays open through the question", async () => {
  const items = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", textMessage("ask Who?"), journal)));
  const { id } = result(items[0]).task;
  expect(result(items.at(-1)).statusUpdate.status).toMatchObject({
    state: "TASK_STATE_INPUT_REQUIRED",
    message: { parts: [{ text: "Who?" }] },
  });
  const watching = Array.fromAsync(sseItems(await stream("SubscribeToTask", { id })));
  await rpc(server.url, "SendMessage", textMessage("me", { taskId: id }));
  const states = (await watching).map((item) => (result(item).task ?? result(item).statusUpdate)?.status.state);
  expect(states[0]).toBe("TASK_STATE_INPUT_REQUIRED");
  expect(states.at(-1)).toBe("TASK_STATE_COMPLETED");
});

test("a stream stays open while the task waits for authorisation", async () => {
  const controller = new AbortController();
  const response = await stream("SendStreamingMessage", textMessage("authorize"), {}, controller.signal);
  const states: string[] = [];
  for await (const item of sseItems(response)) {
    const at = result(item).task ?? result(item).statusUpdate;
    if (at === undefined) continue;
    states.push(at.status.state);
    if (at.status.state === "TASK_STATE_AUTH_REQUIRED") {
      const taskId = at.taskId ?? at.id;
      const blocking = await rpc(server.url, "GetTask", { id: taskId });
      expect(blocking.body.result.status.state).toBe("TASK_STATE_AUTH_REQUIRED");
      await rpc(server.url, "SendMessage", textMessage("yes", { taskId }, { returnImmediately: true }));
    }
  }
  expect(states).toContain("TASK_STATE_AUTH_REQUIRED");
  expect(states.at(-1)).toBe("TASK_STATE_COMPLETED");
});

test("subscribers see the same order, and one that leaves does not affect the others or the task", async () => {
  const id = await start("work 40");
  const leaving = new AbortController();
  const [first, second, third] = await Promise.all([
    stream("SubscribeToTask", { id }, journal),
    stream("SubscribeToTask", { id }, journal),
    stream("SubscribeToTask", { id }, journal, leaving.signal),
  ]);
  const reading = [Array.fromAsync(sseItems(first)), Array.fromAsync(sseItems(second))];
  await sseItems(third).next();
  leaving.abort();
  const log = await Promise.all(reading).then(async (items) => ({ items, log: await logOf(id) }));
  for (const items of log.items) {
    expect(told(items)).toEqual(log.log.filter(({ seq }) => seq > (items[0]?.id ?? 0)));
  }
});

test("whenever a subscriber comes, its task and what follows add up to the log, with no gap and no repeat", async () => {
  const id = await start("work 100");
  const read = async () => Array.fromAsync(sseItems(await stream("SubscribeToTask", { id }, journal)));
  const readings: ReturnType<typeof read>[] = [];
  // They come as the log grows, and so all along it, however busy the machine is.
  for await (const item of server.engine.follow(id, { signal: AbortSignal.timeout(60_000) }))
    if ("seq" in item && readings.length < 40 && item.seq > readings.length * 4) readings.push(read());
  const all = await Promise.all(readings);
  const log = await logOf(id);
  const middle = all.filter(([first]) => (first?.id ?? 0) > 2 && (first?.id ?? 0) < log.length);
  expect(new Set(middle.map(([first]) => first?.id)).size).toBeGreaterThan(5);
  for (const [first, ...rest] of middle) {
    expect(result(first).task.metadata["manyhands/seq"]).toBe(first?.id);
    expect(told(rest)).toEqual(log.filter(({ seq }) => seq > (first?.id ?? 0)));
  }
});

test("a task canceled while its answer grows ends once, as canceled, and no piece comes twice or after", async () => {
  const words = Array.from({ length: 200 }, (_, n) => `w${n}`);
  const response = await stream("SendStreamingMessage", textMessage(`draft ${words.join(" ")}`));
  const pieces: string[] = [];
  const states: string[] = [];
  let id = "";
  for await (const item of sseItems(response)) {
    const { task, artifactUpdate, statusUpdate } = result(item);
    id ||= task?.id ?? "";
    if (artifactUpdate) pieces.push(...artifactUpdate.artifact.parts.map(({ text }: Wire) => text));
    if (statusUpdate) states.push(statusUpdate.status.state);
    if (states.at(-1) === "TASK_STATE_CANCELED") expect(artifactUpdate).toBeUndefined();
    if (pieces.length === 5 && artifactUpdate) await rpc(server.url, "CancelTask", { id });
  }
  expect(states.filter((state) => state === "TASK_STATE_CANCELED")).toHaveLength(1);
  expect(states.at(-1)).toBe("TASK_STATE_CANCELED");
  const [start, ...grown] = pieces;
  expect([start, ...grown.slice(0, 4)]).toEqual(["", "w0", "w1", "w2", "w3"]);
  expect(grown).toEqual(words.slice(0, grown.length));
  expect(grown.length).toBeLessThan(words.length);
  const { body } = await rpc(server.url, "GetTask", { id });
  expect([body.result.status.state, body.result.artifacts ?? []]).toEqual(["TASK_STATE_CANCELED", []]);
});

test("a stream cut at 50 random places and resumed by Last-Event-ID adds up to the log", async () => {
  const id = await start("work 120");
  const items: SseItem[] = [];
  let last = 0;
  let cuts = 0;
  for (;;) {
    const response = await stream("SubscribeToTask", { id }, { ...journal, "Last-Event-ID": String(last) });
    const left = cuts < 50 ? 200 + Math.floor(Math.random() * 4_000) : Number.POSITIVE_INFINITY;
    let finished = true;
    for await (const item of sseItems(cutAfter(response, left))) {
      if (result(item)?.task !== undefined) {
        expect(item.id).toBe(last);
        continue;
      }
      if (item.id === undefined) continue;
      last = item.id;
      items.push(item);
      finished = result(item).statusUpdate?.status.state === "TASK_STATE_COMPLETED";
    }
    if (finished && items.length > 0 && result(items.at(-1)).statusUpdate?.status.state === "TASK_STATE_COMPLETED")
      break;
    cuts++;
  }
  expect(cuts).toBeGreaterThanOrEqual(50);
  expect(told(items)).toEqual(await logOf(id));
});

/** The response, cut off after some bytes, possibly in the middle of a character. */
function cutAfter(response: Response, bytes: number): Response {
  let left = bytes;
  const reader = response.body?.getReader();
  return new Response(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done || value === undefined) return controller.close();
        controller.enqueue(value.subarray(0, left));
        left -= value.byteLength;
        if (left > 0) return;
        await reader?.cancel();
        controller.close();
      },
    }),
  );
}

test("resuming after the end gives the rest; a reader that missed nothing learns that there is no more", async () => {
  const task = (await rpc(server.url, "SendMessage", textMessage("work 2"))).body.result.task;
  const log = await logOf(task.id);
  const rest = await Array.fromAsync(
    sseItems(await stream("SubscribeToTask", { id: task.id }, { ...journal, "Last-Event-ID": "3" })),
  );
  expect(told(rest)).toEqual(log.slice(3));
  const none = await stream("SubscribeToTask", { id: task.id }, { "Last-Event-ID": String(log.length) });
  expect((await wire(none)).error.code).toBe(-32004);
  const ended = await stream("SubscribeToTask", { id: task.id });
  expect((await wire(ended)).error.code).toBe(-32004);
});

test("a message streamed again with the same id joins its task instead of starting another", async () => {
  const params = textMessage("work 30");
  const leaving = new AbortController();
  const first = await stream("SendStreamingMessage", params, journal, leaving.signal);
  const head = await sseItems(first).next();
  leaving.abort();
  const again = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", params, journal)));
  expect(result(again[0]).task.id).toBe(result(head.value as SseItem).task.id);
  expect(result(again.at(-1)).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
});

test("a message streamed again with the last event's id continues after it, with nothing twice", async () => {
  const message = textMessage("work 4");
  const first = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", message, journal)));
  const log = await logOf(result(first[0]).task.id);
  const headers = { ...journal, "Last-Event-ID": "3" };
  const again = await Array.fromAsync(sseItems(await stream("SendStreamingMessage", message, headers)));
  expect(told(again)).toEqual(log.filter(({ seq }) => seq > 3));
});

test("a task continues when its only reader drops the connection", async () => {
  const leaving = new AbortController();
  const response = await stream("SendStreamingMessage", textMessage("work 30"), {}, leaving.signal);
  const head = await sseItems(response).next();
  leaving.abort();
  const { id } = result(head.value as SseItem).task;
  await eventually(async () => {
    const { body } = await rpc(server.url, "GetTask", { id });
    return body.result.status.state === "TASK_STATE_COMPLETED" ? true : undefined;
  });
});

test("an error before the first event is a plain response, except for a 0.3 resubscription, where it is a stream", async () => {
  const refused = await stream("SubscribeToTask", { id: "none" });
  expect(refused.headers.get("Content-Type")).toStartWith("application/json");
  expect((await wire(refused)).error.code).toBe(-32001);
  const legacy = await stream("tasks/resubscribe", { id: "none" }, { "A2A-Version": "0.3" });
  expect(legacy.headers.get("Content-Type")).toBe("text/event-stream");
  const [item] = await Array.fromAsync(sseItems(legacy));
  expect(item?.data).toMatchObject({ error: { code: -32001 } });
});

test("silence is filled with heartbeats, and a connection quiet for thirteen seconds lives", async () => {
  const quiet = await startAgentServer({ heartbeatMs: 60_000 });
  try {
    const beating = await stream("SendStreamingMessage", textMessage("wait 1000"));
    expect(beating.headers.get("X-Accel-Buffering")).toBe("no");
    const text = await beating.text();
    expect(text.match(/^: keep-alive$/gm)?.length).toBeGreaterThanOrEqual(3);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "SendStreamingMessage",
      params: textMessage("wait 13000"),
    });
    const response = await fetch(quiet.url, {
      method: "POST",
      body,
      headers: { "A2A-Version": "1.0", "Content-Type": "application/json" },
    });
    const items = await Array.fromAsync(sseItems(response));
    expect(result(items.at(-1)).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
  } finally {
    await quiet.stop();
  }
});

test("readers that never read take bounded memory, and others are served meanwhile", async () => {
  const id = await start("work 60");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id } });
  const { hostname, port } = new URL(server.url);
  const request = [
    "POST / HTTP/1.1",
    `Host: ${hostname}:${port}`,
    "A2A-Version: 1.0",
    "Last-Event-ID: 0",
    "A2A-Extensions: urn:manyhands:journal:1",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
  const before = process.memoryUsage().rss;
  const sockets = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const socket = connect(Number(port), hostname);
      socket.pause();
      await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      socket.write(request);
      return socket;
    }),
  );
  try {
    const done = await eventually(async () => {
      const { body } = await rpc(server.url, "GetTask", { id });
      return body.result.status.state === "TASK_STATE_COMPLETED" ? body.result : undefined;
    }, 150_000);
    expect(done.artifacts).toHaveLength(1);
    // This process holds both ends of every connection.
    expect(process.memoryUsage().rss - before).toBeLessThan(sockets.length * 300 * 1024);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

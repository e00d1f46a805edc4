import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { type A2aClient, type A2aClientOptions, createA2aClient } from "manyhands/internal/a2a/client/client";
import { artifactParts, type TaskUpdate } from "manyhands/internal/a2a/client/task-update";
import type { AppError } from "manyhands/internal/core/errors";
import { type AgentServer, startAgentServer } from "./agent-server.ts";
import { eventually } from "./rpc.ts";

let server: AgentServer;
let client: A2aClient;
const retry = { retries: 4, firstPauseMs: 10 };
const connect = (options: A2aClientOptions = {}, url = server.url) => createA2aClient(url, { retry, ...options });
beforeAll(async () => {
  server = await startAgentServer();
  client = await connect();
});
afterAll(() => server.stop());

const answerOf = (updates: readonly TaskUpdate[]) => {
  const end = updates.at(-1);
  const content = end?.kind === "end" ? end.task.artifacts.at(-1)?.parts[0]?.content : undefined;
  return content?.$case === "text" ? content.value : undefined;
};
const failure = async (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error("It did not fail")),
    (error: AppError) => error,
  );

/** A server of raw answers, one per request in turn; the last one repeats. */
function rawServer(...answers: ((request: Request) => Response | Promise<Response>)[]) {
  let asked = 0;
  const raw = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => (answers[Math.min(asked++, answers.length - 1)] ?? (() => new Response()))(request),
  });
  return { url: raw.url.origin, asked: () => asked, stop: () => raw.stop(true) };
}
const foreignCard = (url: string, streaming: boolean) =>
  Response.json({
    name: "Else",
    description: "Another make",
    version: "1",
    supportedInterfaces: [{ url: `${url}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming },
    defaultInputModes: ["text"],
    defaultOutputModes: ["text"],
    skills: [],
  });

test("a stream has the journal's events and live progress, and ends with the task", async () => {
  const updates = await Array.fromAsync(client.stream({ text: "type a b" }));
  expect(updates[0]?.kind).toBe("task");
  const typed = updates.flatMap((u) =>
    u.kind === "progress" && u.progress.type === "text-delta" ? [u.progress.text] : [],
  );
  expect(typed).toEqual(["a", "b"]);
  expect(updates.flatMap((u) => (u.kind === "status" ? [u.journal?.event.type] : [])).at(-1)).toBe("run-ended");
  expect(answerOf(updates)).toBe("a b");
});

test("send waits for the end or a question, and an answer continues the task", async () => {
  const asked = await client.send({ text: "ask Who?" });
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  const done = await client.answer(asked.id, "me");
  expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect((await client.get(done.id)).artifacts).toEqual(done.artifacts);
});

test("send takes one request for a task that is over soon, however much it tells", async () => {
  const asked: string[] = [];
  const counted = await connect({
    fetch: async (input, init) => {
      if (init?.method === "POST") asked.push(JSON.parse(String(init.body)).method);
      return fetch(input, init);
    },
  });
  const done = await counted.send({ text: "work 5" });
  expect(done).toEqual(await client.get(done.id));
  expect(asked).toEqual(["SendMessage"]);
  const reply = await counted.send({ text: "reply hi" });
  expect(reply).toEqual(await client.get(reply.id));
});

test("send waits for a task that takes long, and for a question that comes late", async () => {
  const long = await client.send({ text: "wait 2500" });
  expect(long).toEqual(await client.get(long.id));
  expect(long.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  const asked = await client.send({ text: "late Who?" });
  expect(asked).toEqual(await client.get(asked.id));
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  await client.cancel(asked.id);
});

test("submit does not wait for the end, and the same message is the same task", async () => {
  const message = { messageId: crypto.randomUUID(), text: "wait 60000" };
  const first = await client.submit(message);
  const again = await client.submit(message);
  expect([first.isReply, again.task.id]).toEqual([false, first.task.id]);
  expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(
    first.task.status?.state as TaskState,
  );
  expect((await client.cancel(first.task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
});

test("a submit that may wait returns the end of a quiet task, and does not wait for a busy one", async () => {
  const quick = await client.submit({ text: "quiet 100" }, { waitMs: 10_000 });
  expect([quick.isReply, quick.task.status?.state]).toEqual([false, TaskState.TASK_STATE_COMPLETED]);
  expect(quick.task.artifacts.at(-1)?.parts[0]?.content).toEqual({ $case: "text", value: "quiet" });
  const waits = { "wait 600000": 10_000, "quiet 600000": 20 };
  for (const [text, waitMs] of Object.entries(waits)) {
    const begun = performance.now();
    const { task } = await client.submit({ text }, { waitMs });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    expect(performance.now() - begun).toBeLessThan(9_000);
    await client.cancel(task.id);
  }
});

test("frames about another task are dropped", async () => {
  const frame = (id: unknown, taskId: string, state: string) => {
    const result = { statusUpdate: { taskId, contextId: "k", status: { state } } };
    return `data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`;
  };
  const raw = rawServer(
    () => foreignCard(raw.url, true),
    async (request) => {
      const { id } = (await request.json()) as { id: unknown };
      const frames = [
        frame(id, "t1", "TASK_STATE_WORKING"),
        frame(id, "t2", "TASK_STATE_FAILED"),
        frame(id, "t1", "TASK_STATE_COMPLETED"),
      ];
      return new Response(frames.join(""), { headers: { "Content-Type": "text/event-stream" } });
    },
    async (request) => {
      const { id } = (await request.json()) as { id: unknown };
      const task = { id: "t1", contextId: "k", status: { state: "TASK_STATE_COMPLETED" } };
      return Response.json({ jsonrpc: "2.0", id, result: task });
    },
  );
  const updates = await Array.fromAsync((await connect({}, raw.url)).stream({ text: "go" }));
  raw.stop();
  expect(updates.map((update) => (update.kind === "status" ? update.state : update.kind))).toEqual([
    TaskState.TASK_STATE_WORKING,
    TaskState.TASK_STATE_COMPLETED,
    "end",
  ]);
});

test("a file comes back by its hash, with the address to fetch it from", async () => {
  const raw = {
    content: { $case: "raw" as const, value: Buffer.from("hi") },
    metadata: undefined,
    filename: "a.txt",
    mediaType: "text/plain",
  };
  const task = await client.send({ text: "file b.txt", parts: [raw] });
  const [artifact] = task.artifacts;
  if (artifact === undefined) throw new Error("no artifact");
  expect(artifactParts(artifact)).toEqual([
    { type: "file", name: "b.txt", mediaType: "text/plain", size: 2, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

test("a connection that keeps breaking loses and repeats nothing", async () => {
  let cuts = 0;
  const breaking = await connect({
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) return response;
      cuts++;
      return torn(response, 1_500);
    },
  });
  const updates = await Array.fromAsync(breaking.stream({ text: "work 40" }));
  const end = updates.at(-1);
  if (end?.kind !== "end") throw new Error("no end");
  expect(cuts).toBeGreaterThan(5);
  const first = updates[0];
  const from = first?.kind === "task" ? (first.seq ?? 0) : 0;
  const seqs = updates.slice(1).flatMap((u) => ("seq" in u && u.seq !== undefined ? [u.seq] : []));
  const log = await server.engine.events(end.task.id, from);
  expect(seqs).toEqual(log.map(({ seq }) => seq));
  expect(await server.engine.list({ kind: "scripted", contextId: end.task.contextId, limit: 5 })).toMatchObject({
    total: 1,
  });
});

/** The response, broken off with an error after some bytes. */
function torn(response: Response, bytes: number): Response {
  let left = bytes;
  const reader = response.body?.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done || value === undefined) return controller.close();
      controller.enqueue(value.subarray(0, Math.max(0, left)));
      left -= value.byteLength;
      if (left > 0) return;
      await reader?.cancel();
      controller.error(new Error("ECONNRESET"));
    },
  });
  return new Response(body, { headers: response.headers });
}

test("a server that restarts continues the task, and its reader the stream", async () => {
  const home = await mkdtemp(join(tmpdir(), "a2a-restart-"));
  const first = await startAgentServer({ home });
  const { port } = new URL(first.url);
  const updates: TaskUpdate[] = [];
  const options = { retry: { retries: 20, firstPauseMs: 50 } };
  const reading = (async () => {
    for await (const update of (await connect(options, first.url)).stream({ text: "work 60" })) updates.push(update);
  })();
  await eventually(() => (updates.length > 10 ? true : undefined));
  await first.stop();
  const second = await startAgentServer({ home, port: Number(port) });
  try {
    await reading;
    expect(answerOf(updates)).toBe("worked 60");
    const seqs = updates.flatMap((u) => ("seq" in u && u.seq !== undefined ? [u.seq] : []));
    expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i));
  } finally {
    await second.stop();
    await rm(home, { recursive: true, force: true });
  }
});

test("watching from a position gives everything after it, even if the task ended long ago", async () => {
  const done = await client.send({ text: "work 3" });
  const updates = await Array.fromAsync(client.watch(done.id, { after: 0 }));
  const seqs = updates.flatMap((u) => ("seq" in u && u.seq !== undefined ? [u.seq] : []));
  expect(seqs).toEqual((await server.engine.events(done.id)).map(({ seq }) => seq));
  const none = await Array.fromAsync(client.watch(done.id, { after: seqs.length }));
  expect(none.map(({ kind }) => kind)).toEqual(["end"]);
});

test("a watcher stays through questions until the task ends", async () => {
  const asked = await client.send({ text: "ask Who?" });
  const watching = Array.fromAsync(client.watch(asked.id));
  await client.answer(asked.id, "me");
  expect(answerOf(await watching)).toBe("heard me");
});

test("the caller's signal ends the watching with its own reason, and not the task", async () => {
  const leaving = new AbortController();
  const reason = new Error("enough");
  const updates: TaskUpdate[] = [];
  const watched = (async () => {
    for await (const update of client.stream({ text: "wait 200" }, { signal: leaving.signal })) {
      updates.push(update);
      leaving.abort(reason);
    }
  })();
  expect(await failure(watched)).toBe(reason as AppError);
  const [task] = updates;
  if (task?.kind !== "task") throw new Error("no task");
  await eventually(async () =>
    (await client.get(task.task.id)).status?.state === TaskState.TASK_STATE_COMPLETED ? true : undefined,
  );
});

test("errors come as codes of our table", async () => {
  const task = await client.send({ text: "answer x" });
  expect((await failure(client.get("none"))).code).toBe("not_found");
  expect((await failure(client.cancel(task.id))).code).toBe("run_ended");
  expect((await failure(client.send({ text: "hi", messageId: "x".repeat(999) }))).code).toBe("invalid_input");
  const nobody = await connect({ headers: { "X-User": "nobody" } });
  expect((await failure(nobody.get(task.id))).code).toBe("unauthorized");
});

test("a response that is not A2A is retried, and then fails as unavailable", async () => {
  const raw = rawServer(
    () => new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "Content-Type": "text/html" } }),
  );
  try {
    expect((await failure(connect({}, raw.url))).code).toBe("unavailable");
    expect(raw.asked()).toBe(1 + retry.retries);
  } finally {
    await raw.stop();
  }
});

test("an agent that comes back is found again", async () => {
  let downs = 2;
  const flaky = await connect({
    fetch: (input, init) => (downs-- > 0 ? Promise.reject(new TypeError("connection refused")) : fetch(input, init)),
  });
  expect(answerOf(await Array.fromAsync(flaky.stream({ text: "answer yes" })))).toBe("yes");
});

test.each([
  ["never answers", () => new Promise<Response>(() => undefined), "timeout"],
  ["sends a card of 5 MB", () => new Response(`{"name":"${"x".repeat(5_000_000)}"}`), "too_large"],
  ["redirects", () => Response.redirect(`${server.url}/.well-known/agent-card.json`), "unavailable"],
  ["sends half a card", () => new Response('{"name":"x'), "unavailable"],
] as const)("a server that %s is not waited for, read on or followed", async (_, answer, code) => {
  const raw = rawServer(answer);
  try {
    // Only the server that never answers may run into the time.
    const responseMs = code === "timeout" ? 200 : 60_000;
    const options = { responseMs, retry: { retries: 0, firstPauseMs: 1 } };
    expect((await failure(connect(options, raw.url))).code).toBe(code);
  } finally {
    await raw.stop();
  }
});

test("a stream that falls silent counts as dead and is resumed", async () => {
  let streams = 0;
  const silent = await connect({
    idleMs: 100,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
      if (!isStream || streams++ > 0) return response;
      await response.body?.cancel();
      return new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), {
        headers: response.headers,
      });
    },
  });
  expect(answerOf(await Array.fromAsync(silent.stream({ text: "answer yes" })))).toBe("yes");
  expect(streams).toBeGreaterThan(1);
});

test("a message as the answer of an agent of another make counts as a completed task", async () => {
  const raw = rawServer(
    () => foreignCard(raw.url, false),
    async (request) => {
      const { id } = (await request.json()) as { id: number };
      const message = { messageId: "m", contextId: "c", role: "ROLE_AGENT", parts: [{ text: "hello" }] };
      return Response.json({ jsonrpc: "2.0", id, result: { message } });
    },
  );
  try {
    const task = await (await connect({}, raw.url)).send({ text: "hi" });
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]).toMatchObject({ name: "answer", parts: [{ content: { value: "hello" } }] });
  } finally {
    await raw.stop();
  }
});

test("a message is not sent twice to an agent of another make, which might treat it as two", async () => {
  for (const streaming of [true, false]) {
    const raw = rawServer(
      () => foreignCard(raw.url, streaming),
      () => new Response("oops", { status: 503 }),
    );
    try {
      const other = await connect({}, raw.url);
      expect((await failure(other.send({ text: "hi" }))).code).toBe("unavailable");
      expect(raw.asked()).toBe(2);
    } finally {
      await raw.stop();
    }
  }
});

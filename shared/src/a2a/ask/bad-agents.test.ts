import { expect, test } from "bun:test";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import type { Part } from "../../core/message.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import {
  type BadAnswer,
  badAgentForTest,
  badArtifact,
  badStream,
  badTask,
  badUpdate,
} from "../../testing/a2a/bad-agent.ts";
import { askAgent } from "./ask-agent.ts";
import type { AskBounds } from "./peers.ts";

const parts: Part[] = [{ type: "text", text: "Do it." }];
const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] });
const working = badTask("WORKING");

/** Asks the agent and returns the outcome. */
async function outcomeOf(url: string, bounds: Partial<AskBounds> = {}, deadlineMs?: number): Promise<AskOutcome> {
  await using asker = await askerForTest(
    (run, peers) =>
      askAgent(run, { agent: { name: "bad", url }, parts, hops: 0, ...(deadlineMs && { deadlineMs }) }, peers),
    { followMs: 400, ...bounds },
  );
  return await asker.run<AskOutcome>();
}

const started: Record<string, BadAnswer> = { SendMessage: () => ({ task: working }), GetTask: () => working };

test("an agent of another make is polled, and what it says is its answer", async () => {
  using agent = badAgentForTest({}, { ...started, GetTask: (_, n) => (n < 3 ? working : done) });
  // Neither that it remembers, nor which calls it made: it does not say, or nobody can check it.
  expect(await outcomeOf(agent.url)).toEqual({
    agent: "bad",
    taskId: "t1",
    contextId: "k1",
    state: "completed",
    answer: "the answer",
    files: [],
  });
  expect(agent.count("SendMessage")).toBe(1);
});

test("an agent of another make gets the schema of its answer as text", async () => {
  using agent = badAgentForTest({}, { SendMessage: () => ({ task: done }) });
  const outputSchema = { type: "object", required: ["total"] };
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0, outputSchema }, peers),
  );
  await asker.run();
  const [sent] = agent.calls;
  expect(sent?.params.message.parts.map(({ text }: { text: string }) => text)).toEqual([
    "Do it.",
    'Answer with JSON that fits this JSON Schema, and nothing else:\n{"type":"object","required":["total"]}',
  ]);
});

test("an agent of A2A 0.3 is asked in its own version", async () => {
  const task = { kind: "task", id: "t1", contextId: "k1", status: { state: "working" } };
  const artifacts = [{ artifactId: "a", parts: [{ kind: "text", text: "as ever" }] }];
  using agent = badAgentForTest(
    { legacy: true },
    { "message/send": () => task, "tasks/get": () => ({ ...task, status: { state: "completed" }, artifacts }) },
  );
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", taskId: "t1", answer: "as ever" });
  expect(agent.calls[0]?.params.configuration?.blocking).toBe(false);
});

test("an agent may answer with a message and no task", async () => {
  const message = { messageId: "r1", role: "ROLE_AGENT", parts: [{ text: "at once" }, { data: { n: 0 } }] };
  using agent = badAgentForTest({}, { SendMessage: () => ({ message }) });
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", answer: "at once", data: { n: 0 } });
  expect(agent.count("GetTask")).toBe(0);
});

test("events out of order, repeated, after the end or of a foreign task change nothing: GetTask decides", async () => {
  const frames = [
    { task: working },
    badUpdate("WORKING", 5),
    badUpdate("FAILED", 6, "someone-elses"),
    badUpdate("WORKING", 2),
    badUpdate("WORKING", 5),
    badUpdate("COMPLETED", 7),
    badUpdate("FAILED", 8),
    badUpdate("WORKING", 9),
  ];
  using agent = badAgentForTest(
    { ours: true },
    { ...started, SubscribeToTask: () => badStream(...frames), GetTask: () => done },
  );
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", answer: "the answer" });
});

test("after a stream claims an end the task has not reached, following continues, without a hot loop", async () => {
  using agent = badAgentForTest(
    { ours: true },
    {
      ...started,
      SubscribeToTask: (_, n) => badStream({ task: working }, badUpdate("COMPLETED", n)),
      CancelTask: () => badTask("CANCELED"),
    },
  );
  expect(await outcomeOf(agent.url, { followMs: 5_000 }, 1_500)).toMatchObject({ state: "timed-out" });
  expect(agent.count("SubscribeToTask")).toBeLessThan(4);
  expect(agent.count("CancelTask")).toBe(1);
});

test("a response about another task is ignored", async () => {
  using agent = badAgentForTest({}, { ...started, GetTask: () => ({ ...done, id: "someone-elses" }) });
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "failed", error: { code: "unavailable" }, answer: "" });
});

const html = () => new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "Content-Type": "text/html" } });
const broken = () => new Response('{"jsonrpc":"2.0","id":1,"resu', { headers: { "Content-Type": "application/json" } });

for (const [what, answer] of [
  ["an HTML 502", html],
  ["broken JSON", broken],
] as const) {
  test(`${what} that is temporary is waited out`, async () => {
    using agent = badAgentForTest({}, { ...started, GetTask: (_, n) => (n < 4 ? answer() : done) });
    expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", answer: "the answer" });
  });

  test(`${what} that persists is the outcome, and the task is canceled`, async () => {
    using agent = badAgentForTest({}, { ...started, GetTask: answer, CancelTask: () => badTask("CANCELED") });
    expect(await outcomeOf(agent.url)).toMatchObject({ state: "failed", error: { code: "unavailable" }, taskId: "t1" });
    expect(agent.count("CancelTask")).toBe(1);
  });

  test(`${what} in response to the message is never followed by a second message`, async () => {
    using agent = badAgentForTest({}, { SendMessage: answer });
    expect(await outcomeOf(agent.url)).toMatchObject({ state: "failed", error: { code: "unavailable" } });
    expect(agent.count("SendMessage")).toBe(1);
  });
}

test("a stream that drips a byte a second, and one that closes in its middle, end in time", async () => {
  const drip = () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(100);
          controller.enqueue(new TextEncoder().encode("d"));
        },
      }),
      { headers: { "Content-Type": "text/event-stream" } },
    );
  using agent = badAgentForTest(
    { ours: true },
    {
      ...started,
      SubscribeToTask: (_, n) =>
        n === 1 ? drip() : badStream({ task: working }, 'data: {"jsonrpc":"2.0","id":1,"res'),
      GetTask: (_, n) => (n < 3 ? working : done),
    },
  );
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", answer: "the answer" });
});

test("an agent that never ends is canceled at the deadline", async () => {
  using agent = badAgentForTest({}, { ...started, CancelTask: () => badTask("CANCELED") });
  expect(await outcomeOf(agent.url, {}, 600)).toMatchObject({ state: "timed-out", error: { code: "timeout" } });
  expect(agent.count("CancelTask")).toBe(1);
});

test("a task that cannot be cancelled now is cancelled later, and the run ends as it would have", async () => {
  using agent = badAgentForTest(
    {},
    { ...started, GetTask: html, CancelTask: (_, n) => (n < 8 ? html() : badTask("CANCELED")) },
  );
  await using asker = await askerForTest(
    (run, peers) => askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0 }, peers),
    { followMs: 400, patienceMs: 300 },
  );
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "failed", error: { code: "unavailable" } });
  for (const deadline = Date.now() + 60_000; agent.count("CancelTask") < 8 && Date.now() < deadline; )
    await Bun.sleep(5);
  expect(agent.count("CancelTask")).toBe(8);
});

for (const method of ["SendMessage", "GetTask"])
  test(`an agent that hangs in ${method} does not hold up its asker: the deadline ends it`, async () => {
    const subscribe = () => new Promise<Response>(() => undefined);
    using agent = badAgentForTest({}, { ...started, [method]: subscribe, CancelTask: () => badTask("CANCELED") });
    const from = performance.now();
    expect(await outcomeOf(agent.url, {}, 200)).toMatchObject({ state: "timed-out", error: { code: "timeout" } });
    expect(performance.now() - from).toBeLessThan(60_000);
  });

test("an agent's request for authorization reaches the person, and the task continues when they confirm it", async () => {
  const message = { messageId: "a1", role: "ROLE_AGENT", parts: [{ text: "Sign in at https://login.example/x" }] };
  const asking = badTask("AUTH_REQUIRED", { status: { state: "TASK_STATE_AUTH_REQUIRED", message } });
  using agent = badAgentForTest(
    {},
    {
      SendMessage: (_, n) => ({ task: n === 1 ? working : done }),
      GetTask: () => (agent.count("SendMessage") < 2 ? asking : done),
    },
  );
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0 }, peers),
  );
  const id = await asker.start();
  await asker.until(id, "waiting");
  expect(await asker.events(id)).toContainEqual(
    expect.objectContaining({
      type: "question-asked",
      kind: "authorization",
      question: expect.stringContaining("Sign in at https://login.example/x"),
    }),
  );
  await asker.say(id, "I did");
  const { output } = await asker.until(id, "completed");
  expect(output).toMatchObject({ state: "completed", exchanges: [{ kind: "authorization" }] });
  expect(agent.calls.filter(({ method }) => method === "SendMessage").at(-1)?.params.message).toMatchObject({
    taskId: "t1",
    parts: [{ text: "I did" }],
  });
});

test("an agent that is not authorized in time is canceled at the deadline", async () => {
  using agent = badAgentForTest(
    {},
    { ...started, GetTask: () => badTask("AUTH_REQUIRED"), CancelTask: () => badTask("CANCELED") },
  );
  expect(await outcomeOf(agent.url, {}, 600)).toMatchObject({ state: "timed-out", error: { code: "timeout" } });
  expect(agent.count("CancelTask")).toBe(1);
});

test("an agent that asks and then does not notice the answer is not answered twice", async () => {
  const status = {
    state: "TASK_STATE_INPUT_REQUIRED",
    message: { messageId: "q1", role: "ROLE_AGENT", parts: [{ text: "Who?" }] },
  };
  using agent = badAgentForTest(
    {},
    { SendMessage: () => ({ task: working }), GetTask: (_, n) => (n < 6 ? badTask("WORKING", { status }) : done) },
  );
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0 }, peers),
  );
  const id = await asker.start();
  await asker.until(id, "waiting");
  await asker.say(id, "me");
  expect((await asker.until(id, "completed")).output).toMatchObject({ state: "completed" });
  expect((await asker.events(id)).filter(({ type }) => type === "question-asked")).toHaveLength(1);
  expect(
    agent.calls.filter(({ method }) => method === "SendMessage").map(({ params }) => params.message.taskId ?? ""),
  ).toEqual(["", "t1"]);
});

const withFiles = (...made: object[]) => badTask("COMPLETED", { artifacts: [...made, badArtifact({ text: "see" })] });
const link = (url: string, more = {}) => badArtifact({ url, filename: "big.bin", ...more }, "big.bin");

test("a file that is too large is named, whether it says so or not, and the rest of the answer is kept", async () => {
  const endless = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)) }));
  using agent = badAgentForTest(
    { get: endless },
    {
      SendMessage: () => ({ task: working }),
      GetTask: () =>
        withFiles(
          link(`${agent.url}/big.bin`, { metadata: { "manyhands/file": { sha256: "0", size: 100 * 1024 * 1024 } } }),
          link(`${agent.url}/endless`),
          badArtifact({ raw: Buffer.from("small").toString("base64"), filename: "../small.txt" }, "small"),
        ),
    },
  );
  expect(await outcomeOf(agent.url, { fileBytes: 1024 * 1024 })).toMatchObject({
    state: "completed",
    answer: "see",
    files: [{ name: "small.txt", size: 5 }],
    error: { code: "too_large", message: expect.stringContaining("big.bin") },
  });
});

test("an answer that is too large as a whole is a named failure", async () => {
  const huge = `{"jsonrpc":"2.0","id":1,"result":"${"x".repeat(34 * 1024 * 1024)}"}`;
  using agent = badAgentForTest({}, { ...started, GetTask: () => new Response(huge) });
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "failed", error: { code: "too_large" } });
});

test("links to other servers are not followed, nor redirects, nor files that break off", async () => {
  using elsewhere = badAgentForTest({ get: () => new Response("secret") }, {});
  using agent = badAgentForTest(
    { get: (path) => (path === "/moved" ? Response.redirect(`${elsewhere.url}/x`) : new Response("short")) },
    {
      SendMessage: () => ({ task: working }),
      GetTask: () =>
        withFiles(
          link(`${elsewhere.url}/x`),
          link("file:///etc/passwd"),
          link(`${agent.url}/moved`),
          link(`${agent.url}/cut`, { metadata: { "manyhands/file": { sha256: "f".repeat(64), size: 9 } } }),
        ),
    },
  );
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", files: [], error: { code: "forbidden" } });
});

test("an agent of this machine whose port changed is asked at the new one, and its files are fetched there", async () => {
  const get = (path: string) => new Response(path === "/new.txt" ? "moved along" : "no");
  using agent = badAgentForTest(
    { get },
    {
      SendMessage: () => ({ task: working }),
      GetTask: () => withFiles(link(`${agent.url}/new.txt`, { filename: "new.txt" })),
    },
  );
  const before = { name: "bad", url: "http://127.0.0.1:9" };
  await using asker = await askerForTest(
    (run, peers) => askAgent(run, { agent: before, parts, hops: 0 }, peers),
    { followMs: 400 },
    { known: (name) => (name === "bad" ? { name, url: agent.url } : undefined) },
  );
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "completed", files: [{ name: "new.txt", size: 11 }] });
});

test("an agent asked on this machine is not looked up on another, whatever has its name now", async () => {
  using agent = badAgentForTest({}, { SendMessage: () => ({ task: working }) });
  await using asker = await askerForTest(
    async (_, peers) => {
      const elsewhere = { name: "bad", url: "https://agents.example" };
      return [agent.url, elsewhere.url].map((url) => peers.at({ name: "bad", url }).url);
    },
    {},
    { known: (name) => ({ name, url: "https://moved.example" }) },
  );
  expect(await asker.run<string[]>()).toEqual([agent.url, "https://agents.example"]);
});

test("a link to a server that the agent's card names besides its own is not followed", async () => {
  const asked: string[] = [];
  const get = (path: string) => {
    asked.push(path);
    return new Response("secret");
  };
  using elsewhere = badAgentForTest({ get }, {});
  using agent = badAgentForTest(
    { also: [`${elsewhere.url}/`] },
    { SendMessage: () => ({ task: working }), GetTask: () => withFiles(link(`${elsewhere.url}/x`)) },
  );
  expect(await outcomeOf(agent.url)).toMatchObject({ state: "completed", files: [], error: { code: "forbidden" } });
  expect(asked).toEqual([]);
});

test("another agent's name and text are one plain line in our events", async () => {
  const status = {
    state: "TASK_STATE_WORKING",
    message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "a\u001b]0;b\n\nc" }] },
  };
  using agent = badAgentForTest(
    {},
    { SendMessage: () => ({ task: working }), GetTask: (_, n) => (n < 3 ? badTask("WORKING", { status }) : done) },
  );
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0 }, peers),
  );
  const id = await asker.start();
  await asker.until(id, "completed");
  expect(await asker.events(id)).toContainEqual(expect.objectContaining({ type: "agent-progressed", text: "a c" }));
});

test("an agent that continued without the answer does not fail by refusing it", async () => {
  const status = { state: "TASK_STATE_INPUT_REQUIRED", message: { messageId: "q", role: "ROLE_AGENT", parts: [] } };
  const refusal = { error: { code: -32004, message: "The task has ended" } };
  let ended = false;
  using agent = badAgentForTest(
    {},
    {
      SendMessage: (_, n) => (n === 1 ? { task: working } : refusal),
      GetTask: () => (ended ? done : badTask("WORKING", { status })),
    },
  );
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0 }, peers),
  );
  const id = await asker.start();
  await asker.until(id, "waiting");
  ended = true;
  await asker.say(id, "too late");
  expect((await asker.until(id, "completed")).output).toMatchObject({ state: "completed", answer: "the answer" });
});

test("what a person answered an agent that is given up afterwards is in the outcome", async () => {
  const question = { messageId: "q", role: "ROLE_AGENT", parts: [{ text: "Which year?" }] };
  const status = { state: "TASK_STATE_INPUT_REQUIRED", message: question };
  const gone = { error: { code: -32001, message: "No such task" } };
  using agent = badAgentForTest(
    {},
    {
      SendMessage: () => ({ task: working }),
      GetTask: () => (agent.count("SendMessage") === 1 ? badTask("WORKING", { status }) : gone),
      CancelTask: () => gone,
    },
  );
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, { agent: { name: "bad", url: agent.url }, parts, hops: 0 }, peers),
  );
  const id = await asker.start();
  await asker.until(id, "waiting");
  await asker.say(id, "2026");
  expect((await asker.until(id, "completed")).output).toMatchObject({
    state: "failed",
    error: { code: "not_found" },
    exchanges: [{ question: "Which year?", answer: [{ text: "2026" }] }],
  });
});

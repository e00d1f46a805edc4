import { expect, test } from "bun:test";
import { createKeyedQueue } from "../../core/async/keyed-queue.ts";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { createStrReplaceEditor } from "../../tools/files/str-replace-editor.ts";
import { terminate } from "../../tools/human/terminate.ts";
import type { AskRequest } from "./ask.ts";
import { askAgent } from "./ask-agent.ts";
import { cancelOpen } from "./cancel-remote-tasks.ts";
import type { PeerAddress, Peers } from "./peers.ts";

const text = (said: string): Part[] => [{ type: "text", text: said }];
const to = (url: string, more: Partial<AskRequest> = {}): AskRequest => ({
  agent: { name: "helper", url },
  parts: text("Do it."),
  hops: 0,
  ...more,
});
const create = (path: string, content: string) => ({
  calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text: content } }],
});
const question = { calls: [{ name: "ask_human", args: { inquire: "Which year?" } }] };
const never = { text: "never ending", stallAfter: 1 } as const;

async function eventually(check: () => Promise<boolean> | boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(10)) if (await check()) return;
  throw new Error("It did not happen within ten seconds");
}

test("an agent is asked with files, and its answer, files and usage come back, with events that record them", async () => {
  await using helper = await agentServerForTest({
    script: [
      { calls: [{ name: "str_replace_editor", args: { command: "view", path: "in.txt" } }] },
      create("out.txt", "made here"),
      { text: "Done:\nsee out.txt" },
    ],
  });
  await using asker = await askerForTest(async (run, { artifacts }) => {
    const file = await run.step("file", () => artifacts.put(new TextEncoder().encode("given"), { name: "in.txt" }));
    return askAgent(
      run,
      to(helper.url, { parts: [...text("Work on in.txt"), { type: "file", ...file }] }),
      asker.peers,
    );
  });
  const id = await asker.start();
  const outcome = (await asker.until(id, "completed")).output as unknown as AskOutcome;
  const [task] = await helper.tasks();
  expect(outcome).toMatchObject({
    agent: "helper",
    taskId: task?.id,
    contextId: task?.contextId,
    state: "completed",
    remembers: true,
    answer: "Done:\nsee out.txt",
    files: [{ name: "out.txt", size: 9 }],
    made: {
      count: 2,
      calls: [
        { name: "str_replace_editor", arguments: '{"command":"view","path":"in.txt"}', outcome: "done" },
        { name: "str_replace_editor", arguments: expect.stringContaining("made here"), outcome: "done" },
      ],
    },
  });
  expect(outcome.usage?.tokens).toBeGreaterThan(10);
  expect(outcome.usage?.usd).toBeGreaterThan(0);
  expect(outcome.error).toBeUndefined();
  expect(await (await asker.artifacts.get(outcome.files[0]?.sha256 ?? ""))?.text()).toBe("made here");
  expect(JSON.stringify(helper.model.requests.at(1)?.body)).toContain("given");
  const events = (await asker.events(id)).filter(({ type }) => type.startsWith("agent-"));
  expect(events.map(({ type }) => type)).toEqual([
    "agent-asked",
    "agent-accepted",
    ...Array.from({ length: events.length - 3 }, () => "agent-progressed" as const),
    "agent-answered",
  ]);
  expect(events).toContainEqual(expect.objectContaining({ type: "agent-progressed", agent: "helper" }));
  expect(events.at(-1)).toMatchObject({ state: "completed", usage: outcome.usage, files: [{ name: "out.txt" }] });
});

test("an agent's text is shown live, in whole lines", async () => {
  const said = "First this.\nThen that, and after it much more of the same.";
  await using helper = await agentServerForTest({ script: [{ text: said, deltaDelayMs: 40 }] });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers));
  expect(await asker.run<AskOutcome>()).toMatchObject({ answer: said });
  expect(asker.progress).toContainEqual(expect.objectContaining({ type: "agent-output", text: "First this.\n" }));
});

test("following a task in several steps continues where the last one ended: no line is repeated", async () => {
  const names = ["a.txt", "b.txt", "c.txt"];
  await using helper = await agentServerForTest({
    script: [...names.map((name) => ({ ...create(name, "x"), delayMs: 700 })), { text: "ok", delayMs: 700 }],
  });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers), { followMs: 1_000 });
  const id = await asker.start();
  await asker.until(id, "completed");
  const lines = (await asker.events(id)).flatMap((event) => (event.type === "agent-progressed" ? [event.text] : []));
  expect(lines).toHaveLength(new Set(lines).size);
  for (const name of names) expect(lines.filter((line) => line.includes(name))).toHaveLength(1);
});

test("while an agent of the same store is quiet, its asker waits without a body and continues at its next event", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "ok", delayMs: 1_500 }] });
  let executions = 0;
  await using asker = await askerForTest(
    (run, peers) => {
      executions++;
      return askAgent(run, to(helper.url), peers);
    },
    { followMs: 300 },
    { store: helper.store, isOwn: () => true },
  );
  const id = await asker.start();
  const { waiting, updatedAt } = await asker.until(id, "waiting");
  const [task] = (await helper.tasks()).filter(({ kind }) => kind === "helper");
  expect(waiting).toEqual({ signal: `events of ${task?.id}` });
  await Bun.sleep(350);
  expect(await asker.engine.get(id)).toMatchObject({ status: "waiting", updatedAt });
  expect((await asker.until(id, "completed")).output).toMatchObject({ state: "completed", answer: "ok" });
  expect(executions).toBeGreaterThan(1);
});

test("an asker that waits for a quiet agent looks now and then whether it is still there, and stops at its deadline", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "ok", delayMs: 9_000 }] });
  let executions = 0;
  await using asker = await askerForTest(
    (run, peers) => {
      executions++;
      return askAgent(run, to(helper.url, { deadlineMs: 1_500 }), peers);
    },
    { followMs: 100, quietMs: 50 },
    { store: helper.store, isOwn: () => true },
  );
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "timed-out" });
  expect(executions).toBeGreaterThan(3);
});

test("a conversation with an agent continues where it was", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "one" }, { text: "two" }] });
  await using asker = await askerForTest(async (run, peers) => {
    const first = await askAgent(run, to(helper.url), peers);
    const second = await askAgent(run, to(helper.url, { contextId: first.contextId, parts: text("And?") }), peers);
    return [first, second];
  });
  const [first, second] = await asker.run<AskOutcome[]>();
  expect([first?.answer, second?.answer]).toEqual(["one", "two"]);
  expect(second?.contextId).toBe(first?.contextId ?? "");
  expect(second?.taskId).not.toBe(first?.taskId ?? "");
  expect(JSON.stringify(helper.model.requests[1]?.body)).toContain("Do it.");
});

test("an answer in the requested schema comes back as data", async () => {
  const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  await using helper = await agentServerForTest({
    script: [{ calls: [{ name: "create_chat_completion", args: { response: { n: 0 } } }] }],
  });
  await using asker = await askerForTest((run, peers) =>
    askAgent(run, to(helper.url, { outputSchema: schema }), peers),
  );
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "completed", data: { n: 0 } });
  expect(JSON.stringify(helper.model.requests[0]?.body.messages)).not.toContain("JSON Schema");
});

test("an agent's question is asked under its name, and the answer goes to its task", async () => {
  await using helper = await agentServerForTest({ script: [question, { text: "It is 2026." }] });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers));
  const id = await asker.start();
  const waiting = await asker.until(id, "waiting");
  expect(waiting.waiting?.reason).toBe("input-required");
  expect(await asker.events(id)).toContainEqual({
    type: "question-asked",
    askId: expect.any(String),
    from: { agent: "helper", taskId: expect.any(String), contextId: expect.any(String) },
    question: "Helper asks:\n\nWhich year?",
    kind: "question",
  });
  await asker.say(id, "2026");
  expect((await asker.until(id, "completed")).output).toMatchObject({
    state: "completed",
    answer: "It is 2026.",
    exchanges: [{ kind: "question", question: "Which year?", answer: [{ type: "text", text: "2026" }] }],
  });
  expect(JSON.stringify(helper.model.requests[1]?.body.messages.at(-1))).toContain("2026");
  expect(await helper.tasks()).toHaveLength(1);
});

test("a request for approval is asked in the agent's own words, and does not count as a question", async () => {
  await using helper = await agentServerForTest({
    script: [create("a.txt", "x"), { text: "ok" }],
    approval: ({ name }) => (name === "str_replace_editor" ? "ask" : "allow"),
  });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers));
  const id = await asker.start();
  await asker.until(id, "waiting");
  const asked = (await asker.events(id)).find((event) => event.type === "question-asked");
  const [task] = await helper.tasks();
  const own = (await helper.engine.events(task?.id ?? "")).find(({ event }) => event.type === "question-asked");
  const text = JSON.stringify({ command: "create", path: "a.txt", file_text: "x" });
  expect(asked).toEqual({
    type: "question-asked",
    kind: "approval",
    askId: expect.any(String),
    from: { agent: "helper", taskId: task?.id ?? "", contextId: task?.contextId ?? "" },
    question: `Helper asks:\n\n${String(own?.event.question)}`,
    approval: {
      ...{ id: expect.any(String), callId: expect.any(String), name: "str_replace_editor", arguments: text },
      forTask: "every call of str_replace_editor that changes a.txt",
    },
  });
  expect(asked).toMatchObject({ approval: own?.event.approval });
  await asker.say(id, /"(yes \w{6})"/.exec(String(own?.event.question))?.[1] ?? "");
  expect((await asker.until(id, "completed")).output).toMatchObject({ answer: "ok", files: [{ name: "a.txt" }] });
});

test("two agents that ask at the same time are answered one after the other, each with its own answer", async () => {
  const asks = (name: string) => ({ calls: [{ name: "ask_human", args: { inquire: `${name}?` } }] });
  const echo =
    (name: string): Parameters<typeof agentServerForTest>[0]["script"] =>
    (request, n) =>
      n === 0 ? asks(name) : { text: `${name} heard ${request.messages.at(-1)?.content}` };
  await using one = await agentServerForTest({ script: echo("one") });
  await using other = await agentServerForTest({ script: echo("other") });
  await using asker = await askerForTest((run, peers) =>
    run.all(
      [one, other].map(
        ({ url }) =>
          (own: Run) =>
            askAgent(own, to(url), peers),
      ),
    ),
  );
  const id = await asker.start();
  const answers: string[] = [];
  for (let n = 1; n <= 2; n++) {
    await eventually(async () => (await asker.events(id)).filter((e) => e.type === "question-asked").length === n);
    const asked = (await asker.events(id)).findLast((event) => event.type === "question-asked");
    const name = /\n(\w+)\?/.exec(asked?.type === "question-asked" ? asked.question : "")?.[1] ?? "";
    answers.push(`${name} heard for ${name}`);
    await asker.say(id, `for ${name}`);
  }
  const outcomes = (await asker.until(id, "completed")).output as unknown as AskOutcome[];
  expect(outcomes.map(({ answer }) => answer).toSorted()).toEqual(answers.toSorted());
});

test("an agent that is too slow for the deadline is timed out, its task canceled, and what it spent is counted", async () => {
  await using helper = await agentServerForTest({ script: [create("a.txt", "x"), never] });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url, { deadlineMs: 500 }), peers));
  const outcome = await asker.run<AskOutcome>();
  const error = { code: "timeout", message: "helper did not answer within 0.5 s." };
  expect(outcome).toMatchObject({ state: "timed-out", error, usage: { unpriced: false } });
  expect(outcome.usage?.tokens).toBeGreaterThan(0);
  await eventually(async () => (await helper.tasks())[0]?.status === "canceled");
});

test("a task that ended before the deadline counts, even if the look that saw it lasted beyond", async () => {
  await using helper = await agentServerForTest({ script: [{ text: "in time", delayMs: 1_000 }] });
  const deadlineMs = 2_000;
  const begun = performance.now();
  const late = async (peers: Peers, agent: PeerAddress, signal?: AbortSignal) => {
    const client = await peers.client(agent, signal);
    const get: typeof client.get = async (...args) => {
      const task = await client.get(...args);
      await Bun.sleep(begun + deadlineMs + 500 - performance.now());
      return task;
    };
    return { ...client, get };
  };
  await using asker = await askerForTest((run, peers) => {
    const own = peers.actingFor(run.principal);
    const slow: Peers = { ...own, client: (agent, signal) => late(own, agent, signal) };
    return askAgent(run, to(helper.url, { deadlineMs }), { ...peers, actingFor: () => slow });
  });
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "completed", answer: "in time" });
});

test("a deadline applies even while an agent's question waits for a person", async () => {
  await using helper = await agentServerForTest({ script: [question] });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url, { deadlineMs: 700 }), peers));
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "timed-out" });
  await eventually(async () => (await helper.tasks())[0]?.status === "canceled");
});

test("an agent's failure, or a limit it reaches, is an outcome with its cause", async () => {
  await using helper = await agentServerForTest({
    script: [
      { calls: [{ name: "terminate", args: { status: "failure", summary: "No such file." } }] },
      create("part.txt", "half"),
      // In its last turn an agent may make no more calls.
      create("rest.txt", "too late"),
    ],
    tools: [terminate, createStrReplaceEditor(createKeyedQueue())],
  });
  await using asker = await askerForTest(async (run, peers) => [
    await askAgent(run, to(helper.url), peers),
    await askAgent(run, to(helper.url, { budget: { steps: 2 } }), peers),
  ]);
  const [gaveUp, bound] = await asker.run<AskOutcome[]>();
  // What was said before it failed is still in its conversation.
  expect([gaveUp, bound].map((outcome) => outcome?.remembers)).toEqual([true, true]);
  expect(gaveUp).toMatchObject({ state: "failed", error: { code: "task_failed", message: "No such file." } });
  expect(bound).toMatchObject({ state: "failed", error: { code: "step_limit" }, files: [{ name: "part.txt" }] });
});

test("a task that has passed through too many agents asks no other", async () => {
  await using helper = await agentServerForTest({ script: [] });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url, { hops: 8 }), peers));
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "failed", error: { code: "hop_limit" }, taskId: "" });
  expect(await helper.tasks()).toHaveLength(0);
});

test("an unreachable agent is retried for as long as the patience lasts; then that is the outcome", async () => {
  let tries = 0;
  using away = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      tries++;
      return new Response(null, { status: 503 });
    },
  });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(away.url.origin), peers), {
    patienceMs: 900,
  });
  const from = performance.now();
  const id = await asker.start();
  const { output } = await asker.until(id, "completed");
  expect(output).toMatchObject({ state: "failed", error: { code: "unavailable" }, taskId: "" });
  expect(performance.now() - from).toBeGreaterThanOrEqual(900);
  // Each of the three attempts requests the card three times.
  expect(tries).toBeGreaterThanOrEqual(9);
});

test("a deadline shorter than the patience ends the trying", async () => {
  const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { origin } = closed.url;
  await closed.stop(true);
  await using asker = await askerForTest((run, peers) => askAgent(run, to(origin, { deadlineMs: 700 }), peers), {
    patienceMs: 60_000,
  });
  const from = performance.now();
  expect(await asker.run<AskOutcome>()).toMatchObject({ state: "timed-out", error: { code: "timeout" } });
  expect(performance.now() - from).toBeLessThan(50_000);
});

test("an agent that asks twice in one task gets both answers, each to its own question", async () => {
  const asks = (inquire: string) => ({ calls: [{ name: "ask_human", args: { inquire } }] });
  await using helper = await agentServerForTest({
    script: [asks("Which year?"), asks("Which month?"), { text: "ok" }],
  });
  await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers));
  const id = await asker.start();
  for (const [n, answer] of ["2026", "May"].entries()) {
    await eventually(async () => (await asker.events(id)).filter((e) => e.type === "question-asked").length === n + 1);
    await asker.say(id, answer);
  }
  const { output } = await asker.until(id, "completed");
  expect(output).toMatchObject({
    answer: "ok",
    exchanges: [
      { question: "Which year?", answer: [{ text: "2026" }] },
      { question: "Which month?", answer: [{ text: "May" }] },
    ],
  });
  const heard = helper.model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool");
  expect(heard?.map(({ content }) => content)).toEqual([
    expect.stringContaining("2026"),
    expect.stringContaining("May"),
  ]);
});

test("tasks of an aborted branch are canceled by the branch's parent", async () => {
  await using slow = await agentServerForTest({ script: [never] });
  await using asker = await askerForTest(async (run, peers) => {
    const asked = run.all<AskOutcome>([
      (own) => askAgent(own, to(slow.url), peers),
      async (own) => {
        await own.step("until the other is at work", () =>
          eventually(() => slow.model.requests.length === 1).then(() => null),
        );
        throw await own.step("give up", async () => null).then(() => new Error("no more"));
      },
    ]);
    await asked.catch(() => undefined);
    const left = await cancelOpen(run, peers);
    return { left, states: (await slow.tasks()).map(({ status }) => status) };
  });
  const id = await asker.start();
  expect((await asker.until(id, "completed")).output).toEqual({ left: 0, states: ["canceled"] });
  expect(await asker.events(id)).toContainEqual(expect.objectContaining({ type: "agent-answered", state: "canceled" }));
});

test("asks that lost a race are canceled at the run's end, finished ones are not", async () => {
  await using slow = await agentServerForTest({ script: [never] });
  await using quick = await agentServerForTest({ script: [{ text: "first" }] });
  await using asker = await askerForTest((run, peers) =>
    run.race<AskOutcome>([
      (own) => askAgent(own, to(slow.url), peers),
      async (own) => {
        await own.step("until the other is at work", () =>
          eventually(() => slow.model.requests.length === 1).then(() => null),
        );
        return askAgent(own, to(quick.url), peers);
      },
    ]),
  );
  expect(await asker.run<AskOutcome>()).toMatchObject({ answer: "first" });
  expect((await slow.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
  expect((await quick.tasks()).map(({ status }) => status)).toEqual(["completed"]);
});

for (const [state, script] of [
  ["at work", never],
  ["asking", question],
] as const)
  test(`a run that is canceled while the agent is ${state} cancels its task`, async () => {
    await using helper = await agentServerForTest({ script: [script] });
    await using asker = await askerForTest((run, peers) => askAgent(run, to(helper.url), peers));
    const id = await asker.start();
    if (state === "asking") await asker.until(id, "waiting");
    else await eventually(() => helper.model.requests.length === 1);
    await asker.engine.cancel(id);
    await asker.until(id, "canceled");
    await eventually(async () => (await helper.tasks())[0]?.status === "canceled");
  });

import { afterEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Part, type Task, TaskState } from "@a2a-js/sdk";
import { type A2aClient, createA2aClient } from "manyhands/internal/a2a/client/client";
import { freePort } from "manyhands/internal/http/free-port";
import {
  type ModelScript,
  type ScriptedModel,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";
import * as z from "zod";
import { type AgentServer, startAgent } from "../servers/manus-server.ts";

type Running = { server: AgentServer; client: A2aClient; model: ScriptedModel; restart(): Promise<void> };

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).toReversed()) await each();
});

/** Starts an agent as a separate process, with a separate model and home. */
async function start(name: string, script: ModelScript, env: Record<string, string>): Promise<Running> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-delegate-"));
  const model = await startScriptedModel(script);
  const full = {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    // No task here runs a command, and detecting a sandbox takes a while.
    SANDBOX: "off",
    ...env,
  };
  const running: { server: AgentServer } = { server: startAgent(name, full) };
  cleanUp.push(async () => {
    await running.server.stop();
    await model.close();
    await rm(home, { recursive: true, force: true });
  });
  await running.server.ready;
  const client = await createA2aClient(running.server.url);
  return {
    get server() {
      return running.server;
    },
    client,
    model,
    async restart() {
      const { CRASH_AT: _, ...rest } = full as typeof full & { CRASH_AT?: string };
      running.server = startAgent(name, rest);
      await running.server.ready;
    },
  };
}

/** Manus, allowed to ask SWE, and SWE. */
async function pair(manus: ModelScript, swe: ModelScript, sweEnv: Record<string, string> = {}) {
  const helper = await start("swe", swe, sweEnv);
  const asker = await start("manus", manus, { SWE_URL: helper.server.url, MANYHANDS_AGENTS_MANUS_DELEGATES: "swe" });
  return { asker, helper };
}

const delegate = (task: string, files?: string[]) => ({
  calls: [{ name: "delegate", args: { agent: "swe", task, ...(files && { files }) } }],
});
const create = (path: string, file_text: string) => ({
  calls: [{ name: "str_replace_editor", args: { command: "create", path, file_text } }],
});
/** Repeats the last tool result. */
const lastResult = (messages: readonly { role: string; content?: unknown }[]) =>
  String(messages.findLast(({ role }) => role === "tool")?.content ?? "");
const file = (filename: string, text: string): Part => ({
  content: { $case: "raw", value: Buffer.from(text) },
  filename,
  mediaType: "text/plain",
  metadata: undefined,
});

async function eventually<Value>(check: () => Promise<Value | undefined | false>): Promise<Value> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(25)) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error("It did not happen within fifteen seconds");
}

const taskList = z.object({
  tasks: z.array(z.object({ id: z.string(), status: z.object({ state: z.string() }) })),
});

async function listed({ url }: AgentServer) {
  return taskList.parse(await (await fetch(`${url}/tasks`, { headers: { "A2A-Version": "1.0" } })).json());
}

/** The states of its tasks. */
async function states({ server }: Running): Promise<string[]> {
  return (await listed(server)).tasks.map(({ status }) => status.state.replace("TASK_STATE_", ""));
}

/** The tokens that its only task reports. */
async function usedBy({ server, client }: Running): Promise<number> {
  const { tasks } = await listed(server);
  const task = await client.get(tasks[0]?.id ?? "");
  return z.object({ tokens: z.number() }).parse(task.metadata?.["manyhands/usage"]).tokens;
}

const answerOf = (task: Task) => {
  const content = task.artifacts.find(({ name }) => name === "answer")?.parts[0]?.content;
  return content?.$case === "text" ? content.value : "";
};

test("Manus gives a part of its task to SWE, with files in both directions, each under its path", async () => {
  const { asker, helper } = await pair(
    ({ messages }, n) =>
      n === 0 ? delegate("Write it in capitals.", ["notes/in.txt"]) : { text: lastResult(messages) },
    ({ messages }, n) => {
      if (n === 0) return { calls: [{ name: "str_replace_editor", args: { command: "view", path: "notes/in.txt" } }] };
      return n === 1
        ? create("made/out.txt", lastResult(messages).includes("given") ? "GIVEN" : "?")
        : { text: "Written." };
    },
  );
  const task = await asker.client.send({ text: "Have it done.", parts: [file("notes/in.txt", "given")] });
  expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(answerOf(task)).toContain('<agent-answer from="swe">\nWritten.\n</agent-answer>');
  expect(answerOf(task)).toContain("now in your workspace: made/out.txt");
  const out = task.artifacts.find(({ name }) => name === "made/out.txt")?.parts[0]?.content;
  expect(out?.$case === "url" ? await (await fetch(out.value)).text() : "").toBe("GIVEN");
  expect(await states(helper)).toEqual(["COMPLETED"]);
  const tool = asker.model.requests[0]?.body.tools?.find((each) => each.function.name === "delegate");
  expect(tool?.function.description).toContain("swe: A software engineer");
  const own = asker.model.requests.length;
  const used = z.object({ tokens: z.number() }).parse(task.metadata?.["manyhands/usage"]).tokens;
  const childUsed = await usedBy(helper);
  expect(own).toBe(2);
  expect(childUsed).toBeGreaterThan(0);
  expect(used).toBeGreaterThan(childUsed);
});

test("two parts run at the same time", async () => {
  const arrived = Promise.withResolvers<void>();
  const { asker, helper } = await pair(
    ({ messages }, n) =>
      n === 0
        ? { calls: [...delegate("one").calls, ...delegate("two").calls] }
        : {
            text: messages
              .filter(({ role }) => role === "tool")
              .map(({ content }) => content)
              .join("\n"),
          },
    ({ messages }, n) => {
      if (n === 1) arrived.resolve();
      return { text: `did ${String(JSON.stringify(messages.at(-1))).includes("two") ? "two" : "one"}`, delayMs: 300 };
    },
  );
  const sent = asker.client.send({ text: "Both." });
  await arrived.promise;
  expect((await states(helper)).filter((state) => state === "COMPLETED")).toEqual([]);
  expect(answerOf(await sent)).toMatch(/did one[\s\S]*did two/);
});

test("Manus asks SWE's question, and the answer reaches SWE", async () => {
  const { asker, helper } = await pair(
    ({ messages }, n) => (n === 0 ? delegate("Ask.") : { text: lastResult(messages) }),
    ({ messages }, n) =>
      n === 0
        ? { calls: [{ name: "ask_human", args: { inquire: "Tabs or spaces?" } }] }
        : { text: `It is ${lastResult(messages)}.` },
  );
  const asked = await asker.client.send({ text: "Go." });
  expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  expect(JSON.stringify(asked.status?.message)).toContain("SWE asks:\\n\\nTabs or spaces?");
  expect(answerOf(await asker.client.answer(asked.id, "tabs"))).toContain("It is tabs.");
  expect(await states(helper)).toEqual(["COMPLETED"]);
});

const slow = { text: "never ending", stallAfter: 1 } as const;

test("cancelling Manus cancels what it gave to SWE", async () => {
  const { asker, helper } = await pair(
    () => delegate("Take long."),
    () => slow,
  );
  const { task } = await asker.client.submit({ text: "Go." });
  await eventually(async () => helper.model.requests.length === 1);
  expect((await asker.client.cancel(task.id)).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await eventually(async () => (await states(helper)).join() === "CANCELED");
});

test("Manus killed while SWE works: after its restart there is one task at SWE and one answer", async () => {
  const { asker, helper } = await pair(
    ({ messages }, n) => (n === 0 ? delegate("Take a while.") : { text: lastResult(messages) }),
    () => ({ text: "Done once.", delayMs: 1_500 }),
  );
  const { task } = await asker.client.submit({ text: "Go." });
  await eventually(async () => helper.model.requests.length === 1);
  await asker.server.stop("SIGKILL");
  await asker.restart();
  const ended = await eventually(async () => {
    const now = await asker.client.get(task.id);
    return now.status?.state === TaskState.TASK_STATE_COMPLETED && now;
  });
  expect(answerOf(ended)).toContain("Done once.");
  expect(await states(helper)).toEqual(["COMPLETED"]);
  expect([asker.model.requests.length, helper.model.requests.length]).toEqual([2, 1]);
});

test("SWE killed while it works: it continues after its restart, and Manus gets its answer", async () => {
  const { asker, helper } = await pair(
    ({ messages }, n) => (n === 0 ? delegate("Take a while.") : { text: lastResult(messages) }),
    (_, n) => (n === 0 ? slow : { text: "Done after all." }),
  );
  const sent = asker.client.send({ text: "Go." });
  await eventually(async () => helper.model.requests.length === 1);
  await helper.server.stop("SIGKILL");
  await helper.restart();
  expect(answerOf(await sent)).toContain("Done after all.");
  expect(await states(helper)).toEqual(["COMPLETED"]);
});

for (const crashAt of ["3", "6+"])
  test(`SWE killed at its durable write ${crashAt}: one task there, one answer here`, async () => {
    const { asker, helper } = await pair(
      ({ messages }, n) => (n === 0 ? delegate("Write it.") : { text: lastResult(messages) }),
      ({ messages }) => (messages.some(({ role }) => role === "tool") ? { text: "Written." } : create("out.txt", "x")),
      { CRASH_AT: crashAt },
    );
    const restarted = helper.server.exited.then(() => helper.restart());
    const task = await asker.client.send({ text: "Go." });
    expect(answerOf(task)).toContain("Written.");
    expect(answerOf(task)).toContain("now in your workspace: out.txt");
    await restarted;
    expect(await states(helper)).toEqual(["COMPLETED"]);
    expect(asker.model.requests).toHaveLength(2);
  });

test("agents that pass a task round in a circle end at the hop limit", async () => {
  const [manusPort, swePort] = [`${freePort()}`, `${freePort()}`];
  const urls = { MANUS_URL: `http://127.0.0.1:${manusPort}`, SWE_URL: `http://127.0.0.1:${swePort}` };
  const onto =
    (agent: string): ModelScript =>
    ({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? { text: lastResult(messages) }
        : { calls: [{ name: "delegate", args: { agent, task: "You do it." } }] };
  const env = { ...urls, MANYHANDS_LIMITS_TOKENS: "1000000000" };
  const swe = await start("swe", onto("manus"), { ...env, PORT: swePort, MANYHANDS_AGENTS_SWE_DELEGATES: "manus" });
  const manus = await start("manus", onto("swe"), {
    ...env,
    PORT: manusPort,
    MANYHANDS_AGENTS_MANUS_DELEGATES: "swe",
  });
  const task = await manus.client.send({ text: "Go." });
  expect(answerOf(task)).toContain(`code="hop_limit"`);
  expect((await states(manus)).length + (await states(swe)).length).toBe(9);
});

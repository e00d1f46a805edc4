import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "zod";
import { messageSignal } from "../../core/message.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import type { askerSettings } from "../../testing/a2a/asker-process.ts";
import { badAgentForTest, badArtifact, badTask } from "../../testing/a2a/bad-agent.ts";
import { compiled } from "../../testing/bundled.ts";
import { sweepSize } from "../../testing/sweep-size.ts";

const program = await compiled(new URL("../../testing/a2a/asker-process.ts", import.meta.url).pathname);
afterAll(() => program[Symbol.asyncDispose]());

/** Runs an asking process until it ends, or until `dies`; returns whether it was killed. */
async function crashed(settings: z.input<typeof askerSettings>, dies?: Promise<void>): Promise<boolean> {
  const child = Bun.spawn([program.path, JSON.stringify(settings)], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const killer = setTimeout(() => child.kill("SIGTERM"), 120_000);
  void dies?.then(() => child.kill("SIGKILL"));
  const said = await new Response(child.stderr).text();
  await child.exited;
  clearTimeout(killer);
  if (child.signalCode !== "SIGKILL" && child.exitCode !== 0) throw new Error(`the asker failed: ${said}`);
  return child.signalCode === "SIGKILL";
}

type Asked = {
  readonly crashed: boolean;
  readonly run: string | undefined;
  readonly output: unknown;
  readonly events: readonly string[];
  readonly tasks: readonly string[];
  readonly modelCalls: number;
};

type Mode = z.input<typeof askerSettings>["mode"];

const scripts: Record<Mode, Parameters<typeof agentServerForTest>[0]["script"]> = {
  plain: () => ({ text: "the answer", delayMs: 20 }),
  cancel: () => ({ text: "never ending", stallAfter: 1 }),
  messages: ({ messages }, n) => {
    const read = messages.flatMap(({ role, content }) => (role === "user" ? [content] : []));
    if (read.includes("Stop.")) return { text: JSON.stringify(read) };
    // Each differs, or the agent is told that it repeats itself.
    const args = { command: "create", path: `${n}.txt`, file_text: "x" };
    return { calls: [{ name: "str_replace_editor", args }], delayMs: 50 };
  },
  questions: ({ messages }) => {
    const { role, content } = messages.at(-1) ?? {};
    const task = /one|two/.exec(JSON.stringify(messages.find((each) => each.role === "user")))?.[0];
    if (role === "tool") return { text: `${task} heard ${content}` };
    return { calls: [{ name: "ask_human", args: { inquire: `${task}?` } }] };
  },
};

/** Runs one ask whose process kills itself at this point and is restarted. */
async function ask(crashAt: string, mode: Mode): Promise<Asked> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-ask-crash-"));
  await using helper = await agentServerForTest({ script: scripts[mode] });
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  try {
    const { run } = await engine.start({ kind: "asker", input: null, principal: "p", contextId: "c" });
    const settings = { home, url: helper.url, mode };
    const first = await crashed({ ...settings, crashAt });
    if (first) await crashed(settings);
    const record = await engine.get(run.id);
    return {
      crashed: first,
      run: record?.status,
      output: record?.output,
      events: (await engine.events(run.id)).map(({ event }) => event.type),
      tasks: (await helper.tasks()).map(({ status }) => status),
      modelCalls: helper.model.requests.length,
    };
  } finally {
    await engine.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Kill at every n-th durable write. */
const stride = sweepSize({ quick: 3, usual: 2, full: 1 });

/**
 * Tries the durable writes from first to last, in turn just before one and just after the next;
 * returns how often a process was killed.
 */
async function everyPoint(mode: Mode, expectRight: (asked: Asked) => void): Promise<number> {
  let crashes = 0;
  const lane = async (first: number, suffix: string) => {
    for (let n = first; ; n += 2 * stride) {
      const asked = await ask(`${n}${suffix}`, mode);
      expectRight(asked);
      if (!asked.crashed) return;
      crashes++;
    }
  };
  await Promise.all([lane(1, ""), lane(1 + stride, "+")]);
  return crashes;
}

test("an asker killed around any durable write: the agent has one task, its model is asked once, and the answer is the outcome", async () => {
  const crashes = await everyPoint("plain", (asked) => {
    expect(asked).toMatchObject({
      run: "completed",
      output: { state: "completed", answer: "the answer" },
      tasks: ["completed"],
      modelCalls: 1,
    });
    for (const type of ["agent-asked", "agent-accepted", "agent-answered"])
      expect([type, asked.events.filter((each) => each === type).length]).toEqual([type, 1]);
    expect(asked.events.at(-1)).toBe("run-ended");
  });
  expect(crashes).toBeGreaterThan(4 / stride);
});

test("an asker killed around any durable write of a run that is canceled: no task keeps running at the agent", async () => {
  const crashes = await everyPoint("cancel", (asked) => {
    expect(asked).toMatchObject({ run: "canceled", tasks: ["canceled"] });
  });
  expect(crashes).toBeGreaterThan(6 / stride);
});

test("an asker killed around any durable write while two agents ask: each is answered once, with the answer to its own question", async () => {
  const crashes = await everyPoint("questions", (asked) => {
    expect(asked).toMatchObject({
      run: "completed",
      output: [{ answer: "one heard for one" }, { answer: "two heard for two" }],
      tasks: ["completed", "completed"],
      modelCalls: 4,
    });
    expect(asked.events.filter((type) => type === "question-asked")).toHaveLength(2);
  });
  expect(crashes).toBeGreaterThan(15 / stride);
});

test("an asker killed around any durable write while it sends a message on: the agent reads the message once", async () => {
  const crashes = await everyPoint("messages", (asked) => {
    expect(asked).toMatchObject({
      run: "completed",
      output: { state: "completed", answer: '["Do it.","Stop."]' },
      tasks: ["completed"],
    });
    expect(asked.events.filter((type) => type === "message-heard")).toHaveLength(1);
  });
  expect(crashes).toBeGreaterThan(6 / stride);
});

/**
 * How an ask of an agent of another make came out after a kill, and how often that got its message.
 */
async function askStranger(kill: { readonly crashAt?: string; readonly onMessage?: true }) {
  const done = badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] });
  const arrived = Promise.withResolvers<void>();
  using agent = badAgentForTest(
    {},
    {
      SendMessage: () => {
        arrived.resolve();
        return kill.onMessage ? new Promise(() => {}) : { task: badTask("WORKING") };
      },
      GetTask: () => done,
    },
  );
  const home = await mkdtemp(join(tmpdir(), "manyhands-ask-crash-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  try {
    const { run } = await engine.start({ kind: "asker", input: null, principal: "p", contextId: "c" });
    const settings = { home, url: agent.url, mode: "plain" } as const;
    const isCrashed = await crashed(
      { ...settings, ...(kill.crashAt && { crashAt: kill.crashAt }) },
      kill.onMessage && arrived.promise,
    );
    if (isCrashed) await crashed(settings);
    const outcome = (await engine.get(run.id))?.output as { state: string; error?: { code: string } } | undefined;
    return { isCrashed, came: outcome?.error?.code ?? outcome?.state, sent: agent.count("SendMessage") };
  } finally {
    await engine.close();
    await rm(home, { recursive: true, force: true });
  }
}

test("an asker killed around any durable write: an agent of another make never gets the message twice", async () => {
  const outcomes = new Set<string | undefined>();
  // Which writes share a commit is a matter of time, so no outcome belongs to a certain number.
  for (const when of ["", "+"])
    for (let n = 1; ; n++) {
      const { isCrashed, came, sent } = await askStranger({ crashAt: `${n}${when}` });
      expect([n, sent <= 1, came === "interrupted" || (came === "completed" && sent === 1)]).toEqual([n, true, true]);
      outcomes.add(came);
      if (!isCrashed) break;
    }
  expect(outcomes).toContain("completed");
});

test("an asker killed while an agent of another make has its message and has not answered reports an unknown outcome", async () => {
  expect(await askStranger({ onMessage: true })).toEqual({ isCrashed: true, came: "interrupted", sent: 1 });
});

test("an asker killed around any durable write: an agent of another make never gets a person's answer twice", async () => {
  const outcomes = new Set<string>();
  for (let n = 1; ; n++) {
    let answers = 0;
    using agent = badAgentForTest(
      {},
      {
        SendMessage: ({ message }) => {
          if (message.messageId.includes("/answer-")) answers++;
          return { task: badTask("WORKING") };
        },
        GetTask: () =>
          answers > 0
            ? badTask("COMPLETED", { artifacts: [badArtifact({ text: "the answer" })] })
            : badTask("INPUT_REQUIRED"),
      },
    );
    const home = await mkdtemp(join(tmpdir(), "manyhands-ask-crash-"));
    const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
    const { run } = await engine.start({ kind: "asker", input: null, principal: "p", contextId: "c" });
    await engine.deliver(run.id, messageSignal, { messageId: "a", parts: [{ type: "text", text: "That one." }] });
    const settings = { home, url: agent.url, mode: "plain" } as const;
    const isCrashed = await crashed({ ...settings, crashAt: `${n}` });
    if (isCrashed) await crashed(settings);
    const outcome = (await engine.get(run.id))?.output as { state: string; error?: { code: string } } | undefined;
    outcomes.add(outcome?.error?.code ?? outcome?.state ?? "nothing");
    expect([n, answers <= 1]).toEqual([n, true]);
    await engine.close();
    await rm(home, { recursive: true, force: true });
    if (!isCrashed) break;
  }
  expect([...outcomes]).toContain("completed");
});

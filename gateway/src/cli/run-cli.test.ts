import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import type { CliContext } from "../session/context.ts";
import type { ShownState, TaskItem } from "../tasks/task-item.ts";
import type { TaskOutcome } from "../terminal/render-task.ts";
import { cliForTest } from "../testing/cli.ts";
import { type Spoken, tellWhatNext } from "./runs/what-next.ts";

const at = (state: ShownState, text?: string): TaskItem => ({
  kind: "state",
  taskId: "t1",
  contextId: "c1",
  state,
  ...(text === undefined ? {} : { text }),
});
const artifact = (
  name: string,
  parts: Extract<TaskItem, { kind: "event" }>["event"] extends infer _ ? object[] : never,
) => ({ kind: "event", seq: 2, at: 5, event: { type: "artifact-added", artifactId: name, name, parts } }) as TaskItem;
const file = (name: string) => artifact(name, [{ type: "file", sha256: "0".repeat(64), name, mediaType: "", size: 3 }]);
const answer = artifact("answer", [{ type: "text", text: "Forty-two." }]);

function playing(...items: TaskItem[]) {
  return async function* () {
    yield* items;
  };
}

test("run shows a task, saves its files under the working directory and ends with 0", async () => {
  await using cli = await cliForTest({
    play: playing(at("working"), file("../../report.md"), answer, at("completed")),
  });
  expect(await cli.run("run", "what", "is", "it", "--budget-usd", "0.5", "--context", "c0")).toBe(0);
  expect(cli.sent).toMatchObject([{ text: "what is it", contextId: "c0", budgetUsd: 0.5 }]);
  expect(cli.out()).toContain("Forty-two.");
  expect(cli.out()).toContain("✓ completed");
  expect(cli.said()).toContain("rehearsal model (scripted; no model is configured)");
  const folder = join(cli.cwd, "manyhands-out/t1");
  const saved = join(folder, "report.md");
  expect(cli.out()).toContain(`Files in ${folder}\n  report.md  26 B`);
  expect(await Bun.file(saved).text()).toBe("content of ../../report.md");
});

test("the exit code says how the task ended", async () => {
  for (const [state, code] of [
    ["failed", 1],
    ["canceled", 130],
    ["rejected", 3],
    ["input-required", 3],
  ] as const) {
    await using cli = await cliForTest({ play: playing(at("working"), at(state, "because")) });
    expect(await cli.run("run", "x")).toBe(code);
    expect(cli.out()).toContain("because");
  }
});

test("the command suggested next reaches the same agent or flow", async () => {
  const outcome = { taskId: "t1", contextId: "c1", state: "input-required" } as TaskOutcome;
  const said: string[] = [];
  const config = await loadConfig({ cwd: "/", env: {} });
  const told = (state: ShownState, spoken: Spoken) => {
    const terminal = { say: (line: string) => said.push(line) } as unknown as CliContext["terminal"];
    tellWhatNext({ ...outcome, state }, spoken, config, { terminal });
    return said.at(-1);
  };
  expect(told("input-required", { agent: "manus" })).toEndWith('manyhands runs answer t1 "…"');
  expect(told("input-required", { agent: "swe", config: "my file.toml" })).toEndWith(
    `manyhands runs answer --agent swe --config 'my file.toml' t1 "…"`,
  );
  expect(told("input-required", { flow: "planning" })).toEndWith('manyhands runs answer --flow planning t1 "…"');
  expect(said.join()).not.toContain("manyhands start");
  told("input-required", { agent: "browser", passing: true });
  expect(said.at(-2)).toContain("under `bun manyhands start` they stay open");
  expect(told("completed", { agent: "browser" })).toEndWith('manyhands run --agent browser --context c1 "…"');
  expect(told("working", { agent: "browser" })).toEndWith("manyhands runs watch --agent browser t1");
  const before = said.length;
  told("rejected", { agent: "manus" });
  told("completed", { agent: "manus", byGateway: true });
  expect(said.length).toBe(before);
  expect(told("completed", { flow: "planning", config: "a.toml" })).toEndWith(
    'manyhands flow planning --config a.toml --context c1 "…"',
  );
});

test("an answer to a run ends with the command that continues its conversation", async () => {
  await using cli = await cliForTest({ play: playing(at("working"), answer, at("completed")) });
  expect(await cli.run("runs", "answer", "t1", "yes")).toBe(0);
  expect(cli.sent).toMatchObject([{ text: "yes", taskId: "t1" }]);
  expect(cli.said()).toContain('manyhands run --context c1 "…"');
  expect(await cli.run("runs", "answer", "--flow", "none", "t1", "yes")).toBe(2);
  expect(cli.said()).toContain('There is no flow "none". There are: ');
});

test("a paused task says why and how to resume it, and is no longer waited for", async () => {
  const paused = { type: "run-paused", error: { code: "model_auth", message: "The key is not taken." } } as const;
  await using cli = await cliForTest({
    play: async function* (_, { signal }) {
      yield at("working");
      yield { kind: "event", seq: 3, at: 9, event: paused };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  expect(await cli.run("run", "Count")).toBe(3);
  expect(cli.out()).toContain("‖ paused");
  expect(cli.out()).toContain("  The key is not taken.");
  expect(cli.said()).toContain("runs resume t1");
});

test("a pause that is over is not shown, and a run that is out of sight is said to continue", async () => {
  const event = (type: "run-paused" | "run-resumed") => ({ kind: "event", seq: 3, at: 9, event: { type } }) as TaskItem;
  await using cli = await cliForTest({
    play: async function* ({ text }) {
      yield* [at("working"), event("run-paused"), event("run-resumed"), answer];
      if (text === "Lose it") throw new AppError("unavailable", "It is away.");
      yield at("completed");
    },
  });
  expect(await cli.run("run", "Count")).toBe(0);
  expect(await cli.run("run", "Lose it")).toBe(1);
  expect(cli.said()).toContain("It is away. The run continues; follow it with: bun manyhands runs watch t1");
});

test("an answer may carry files, and the end shows what the task made and used before", async () => {
  const usage = { inputTokens: 700, outputTokens: 30, cachedInputTokens: 0, costUsd: 0.5, source: "provider" };
  let id = "";
  await using cli = await cliForTest({
    play: async function* () {
      for (const state of ["working", "completed"] as const) yield { ...at(state), taskId: id } as TaskItem;
    },
  });
  const store = createArtifactStore(join(cli.cwd, ".manyhands/artifacts"));
  const made = await store.put(new TextEncoder().encode("early"), { name: "early.txt" });
  const engine = createEmbeddedEngine({ path: join(cli.cwd, ".manyhands/runs.db") });
  const events = [
    { type: "model-asked", callId: "c", model: "m", usage, milliseconds: 1 },
    { type: "artifact-added", artifactId: "a", name: "early.txt", parts: [{ type: "file", ...made }] },
  ];
  const request = { kind: "manus", input: { message: { parts: [] } }, principal: "local", contextId: "c1", events };
  id = (await engine.start(request)).run.id;
  await engine.close();
  await writeFile(join(cli.cwd, "orders.csv"), "a,b");
  expect(await cli.run("runs", "answer", id, "this", "one", "--file", "orders.csv")).toBe(0);
  expect(cli.sent).toMatchObject([{ text: "this one", taskId: id, files: [{ name: "orders.csv" }] }]);
  expect(cli.out()).toContain("1 model call · 700 tokens in · 30 out · $0.5000");
  expect(cli.out()).toContain("early.txt  5 B");
});

test("with --json standard output is JSON lines and nothing else", async () => {
  await using cli = await cliForTest({ play: playing(at("working"), answer, at("completed")) });
  expect(await cli.run("run", "x", "--json")).toBe(0);
  const lines = cli
    .out()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ kind }) => kind)).toEqual(["state", "event", "state", "result"]);
  expect(lines.at(-1)).toMatchObject({ state: "completed", text: "Forty-two.", taskId: "t1", contextId: "c1" });
});

test("an agent's question goes to the person at the terminal, and the answer to its task", async () => {
  await using cli = await cliForTest({
    play: async function* ({ taskId }) {
      yield taskId === undefined ? at("input-required", "Which one?") : at("completed");
    },
    answers: ["the blue one"],
    interactive: true,
  });
  expect(await cli.run("run", "x")).toBe(0);
  expect(cli.sent[1]).toMatchObject({ text: "the blue one", taskId: "t1", contextId: "c1" });
});

test("Ctrl-C cancels the task and waits for its end", async () => {
  await using cli = await cliForTest({
    play: async function* (_, { canceled }) {
      yield at("working");
      process.emit("SIGINT");
      for (const deadline = Date.now() + 60_000; canceled.length === 0 && Date.now() < deadline; ) await Bun.sleep(5);
      yield at("canceled");
    },
  });
  expect(await cli.run("run", "x")).toBe(130);
  expect(cli.canceled).toEqual(["t1"]);
});

test("a second Ctrl-C exits at once, and an echo of the first does not count", async () => {
  await using cli = await cliForTest({
    play: async function* (_, { signal }) {
      yield at("working");
      process.emit("SIGINT");
      process.emit("SIGINT");
      await Bun.sleep(400);
      expect(signal.aborted).toBe(false);
      process.emit("SIGINT");
      expect(signal.aborted).toBe(true);
      throw new Error("the stream broke off");
    },
  });
  expect(await cli.run("run", "x")).toBe(130);
});

test("files are sent with the task, and a missing one is a usage error", async () => {
  await using cli = await cliForTest({ play: playing(at("completed")) });
  await writeFile(join(cli.cwd, "a.csv"), "1,2");
  expect(await cli.run("run", "x", "--file", "a.csv", "--file", "a.csv")).toBe(0);
  expect(cli.sent[0]?.files?.map(({ name, mediaType }) => [name, mediaType])).toEqual([
    ["a.csv", "text/csv"],
    ["a.csv", "text/csv"],
  ]);
  expect(await cli.run("run", "x", "--file", "b.csv")).toBe(2);
  expect(cli.said()).toContain("There is no file b.csv.");
});

test("chat keeps the conversation, answers questions and can start a new one", async () => {
  let turn = 0;
  await using cli = await cliForTest({
    play: async function* () {
      yield ++turn === 2 ? at("input-required", "Really?") : at("completed");
    },
    answers: ["one", "two", "yes", "/new", "three", "/exit"],
  });
  expect(await cli.run("chat")).toBe(0);
  expect(cli.sent.map(({ text, contextId, taskId }) => [text, contextId, taskId])).toEqual([
    ["one", undefined, undefined],
    ["two", "c1", undefined],
    ["yes", "c1", "t1"],
    ["three", undefined, undefined],
  ]);
});

test("an expected failure is one sentence and exit code 1", async () => {
  await using cli = await cliForTest({
    // biome-ignore lint/correctness/useYield: it fails before anything comes.
    play: async function* () {
      throw new AppError("unavailable", "The agent is gone.");
    },
  });
  expect(await cli.run("run", "x")).toBe(1);
  expect(cli.said()).toEndWith("The agent is gone.\n");
});

test("a mistyped command line says what is wrong and where help is, in a few lines, and exits with code 2", async () => {
  await using cli = await cliForTest({});
  for (const [args, help] of [
    [["rnu"], "bun manyhands --help"],
    [["runs", "shwo"], "bun manyhands runs --help"],
    [["runs", "list", "--limit", "x"], "bun manyhands runs list --help"],
    [["schedules", "add"], "bun manyhands schedules add --help"],
  ] as const) {
    const before = cli.said().length;
    expect(await cli.run(...args)).toBe(2);
    const said = cli.said().slice(before);
    expect(said).toEndWith(`\`${help}\` shows how to use it.\n`);
    expect(said.split("\n").length).toBeLessThan(6);
  }
  for (const args of [["rnu"], [], ["run"], ["run", "x", "--nope"], ["run", "x", "--budget-usd", "-1"]])
    expect(await cli.run(...args)).toBe(2);
  expect(cli.said()).toContain("unknown command 'rnu'");
  expect(cli.said()).toContain("Did you mean run?");
  expect(cli.said()).toContain("unknown option '--nope'");
  expect(await cli.run("--help")).toBe(0);
  expect(cli.out()).toContain("give a task to an agent or a flow");
});

test("an empty task is refused before any agent is asked", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("run", " ")).toBe(2);
  expect(cli.said()).toContain("The task is empty");
  expect(cli.sent).toEqual([]);
});

test("wrong settings end every command with exit code 2", async () => {
  await using cli = await cliForTest({ env: { SANDBOX: "docker" } });
  for (const command of [["run", "x"], ["chat"], ["doctor"], ["config"], ["start"], ["demo"]])
    expect(await cli.run(...command)).toBe(2);
  expect(cli.said()).toContain('SANDBOX: sandbox.tier cannot be "docker"');
});

test.each([
  [
    {
      MANYHANDS_SCHEDULES_NIGHT_CRON: "bad",
      MANYHANDS_SCHEDULES_NIGHT_START: "swe",
      MANYHANDS_SCHEDULES_NIGHT_TASK: "t",
    },
    'MANYHANDS_SCHEDULES_NIGHT_CRON: [schedules.night] cron: "bad" is not a cron expression',
  ],
  [{ MANYHANDS_FLOWS_PAIR_FLOW: "nope" }, 'MANYHANDS_FLOWS_PAIR_FLOW: [flows.pair]: there is no flow "nope"'],
])("what the gateway would not start with ends `config` and `start` too: %j", async (env, why) => {
  for (const command of ["config", "start"]) {
    await using cli = await cliForTest({ env });
    expect([command, await cli.run(command)]).toEqual([command, 2]);
    expect(cli.said()).toContain(why);
  }
});

test("config shows the settings in effect and their sources, and no secret", async () => {
  await using cli = await cliForTest({
    env: {
      MANYHANDS_MODEL: "m",
      OPENAI_API_KEY: "sk-very-secret",
      OPENAI_BASE_URL: "http://user:pw@127.0.0.1:1/v1",
      MANYHANDS_BROWSER_PROXY_PASSWORD: "hunter2",
      MANYHANDS_FLOWS_PAIR_FLOW: "loop",
      MANYHANDS_FLOWS_PAIR_OPTIONS: '{"agent": "manus"}',
    },
  });
  for (const flags of [[], ["--json"]]) expect(await cli.run("config", ...flags)).toBe(0);
  expect(cli.out()).toContain("m  (MANYHANDS_MODEL)");
  expect(cli.out()).toContain("(secret, 14 characters)");
  expect(cli.out()).toMatch(/flows\.pair\.options\.agent +manus {2}\(MANYHANDS_FLOWS_PAIR_OPTIONS\)/);
  expect(cli.out()).toMatch(/agents\.swe\.port +4103 {2}\(default\)/);
  for (const secret of ["sk-very-secret", "pw@", "hunter2"]) expect(cli.out()).not.toContain(secret);
});

test("runs lists the tasks of the running server, safe for the terminal", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("runs")).toBe(0);
  expect(cli.out()).toContain("t1  completed");
  expect(cli.out()).toContain("a \\u001b[2Jtask");
});

const evil = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp\u2028.";
// biome-ignore lint/suspicious/noControlCharactersInRegex: these very characters are what is looked for.
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u202a-\u202e]/;

test("the terminal obeys nothing an agent says, names or fails with, JSON lines included", async () => {
  for (const flags of [[], ["--json"]]) {
    const said = artifact("answer", [{ type: "text", text: evil }]);
    await using cli = await cliForTest({
      play: playing(at("working", evil), file(`${evil}.md`), said, at("failed", evil)),
    });
    expect(await cli.run("run", "x", ...flags)).toBe(1);
    expect(cli.out()).not.toMatch(obeyed);
    if (flags.length > 0) {
      const states = cli
        .out()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(states[0]).toMatchObject({ state: "working", text: evil });
    }
  }
});

test("an error in a peer's words is shown safely", async () => {
  await using cli = await cliForTest({
    // biome-ignore lint/correctness/useYield: it fails before it has anything to tell.
    play: async function* () {
      throw new AppError("unavailable", `The agent said: ${evil}`);
    },
  });
  expect(await cli.run("run", "x")).toBe(1);
  expect(cli.said()).toContain("The agent said: \\u001b]0;title");
  expect(cli.said()).not.toMatch(obeyed);
});

test("our own deadline that passes is reported in a sentence", async () => {
  await using cli = await cliForTest({
    play: async function* () {
      yield at("working");
      throw new DOMException("The operation timed out.", "TimeoutError");
    },
  });
  expect(await cli.run("run", "x")).toBe(1);
  expect(cli.said()).toEndWith("Timed out waiting for an answer.\n");
});

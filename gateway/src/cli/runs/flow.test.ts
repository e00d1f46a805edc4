import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { flows } from "@manyhands/flows/flows";
import { AppError } from "manyhands/internal/core/errors";
import type { TaskItem } from "../../tasks/task-item.ts";
import { cliForTest } from "../../testing/cli.ts";

const state = (state: "working" | "completed"): TaskItem => ({ kind: "state", taskId: "t1", contextId: "c1", state });

async function* playing() {
  yield* [state("working"), state("completed")];
}

test("flow without a name lists the flows, as text and as JSON", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("flow")).toBe(0);
  for (const { name, description } of flows) expect(cli.out()).toContain(`${name.padEnd(14)}${description}\n`);
  await using json = await cliForTest({});
  expect(await json.run("flow", "--json")).toBe(0);
  const listed = flows.map(({ name, title, description }) => ({ name, title, description }));
  expect(json.out()).toBe(`${JSON.stringify(listed, undefined, 2)}\n`);
});

test("flow gives a flow the task with its files, the agents and the settings that were named", async () => {
  await using cli = await cliForTest({ play: playing });
  await writeFile(join(cli.cwd, "a.txt"), "a");
  const settings = ["--agents", "swe, manus", "--option", "approve=true", "--option", "note=two words"];
  expect(await cli.run("flow", "planning", "fix", "it", ...settings, "--file", "a.txt")).toBe(0);
  expect(cli.sent).toMatchObject([
    {
      text: "fix it",
      flow: { agents: ["swe", "manus"], options: { approve: true, note: "two words" } },
      files: [{ name: "a.txt" }],
    },
  ]);
});

test("one option is set, or one agent named, as several are", async () => {
  await using cli = await cliForTest({ play: playing });
  for (const setting of [["--option", "approve=true"], ["--agents", "swe"], []])
    expect(await cli.run("flow", "planning", "fix", ...setting)).toBe(0);
  expect(cli.sent.map(({ flow }) => flow)).toEqual([{ options: { approve: true } }, { agents: ["swe"] }, undefined]);
});

test("run and chat accept a flow instead of an agent, and not both", async () => {
  await using cli = await cliForTest({ play: playing });
  expect(await cli.run("run", "--flow", "debate", "tabs", "or", "spaces")).toBe(0);
  expect(cli.sent).toMatchObject([{ text: "tabs or spaces" }]);
  expect(cli.connected).toEqual([expect.stringMatching(/\/a2a\/debate$/)]);
  await using chat = await cliForTest({ play: playing, answers: ["tabs?", "/exit"] });
  expect(await chat.run("chat", "--flow", "debate")).toBe(0);
  expect([chat.connected, chat.sent]).toMatchObject([[expect.stringMatching(/\/a2a\/debate$/)], [{ text: "tabs?" }]]);
  await using both = await cliForTest({ play: playing });
  expect(await both.run("run", "--flow", "debate", "--agent", "swe", "x")).toBe(2);
  expect(both.sent).toEqual([]);
});

test("flow --example gives each flow a task that shows what it is for", async () => {
  for (const { name, example } of flows) {
    await using cli = await cliForTest({ play: playing });
    expect(await cli.run("flow", name, "--example")).toBe(0);
    expect(cli.sent).toMatchObject([{ text: example.text }]);
    expect(cli.out()).toContain(`Task: ${example.text}`);
  }
});

test("options beside --example replace those of the example", async () => {
  await using cli = await cliForTest({ play: playing });
  const named = ["--agents", "swe", "--option", "maxIterations=2", "--budget-usd", "1"];
  expect(await cli.run("flow", "loop", "--example", ...named)).toBe(0);
  const { options } = flows.find(({ name }) => name === "loop")?.example ?? {};
  const flow = { agents: ["swe"], options: { ...options, maxIterations: 2 } };
  expect(cli.sent).toMatchObject([{ flow, budgetUsd: 1 }]);
});

test("what a flow wants of its agents and options is said with the options of the command line for them", async () => {
  for (const [refusal, hint] of [
    ["agents: name the agents in their order, or give options.steps.", " On the command line"],
    ["options.rounds: Too big.", " On the command line"],
    ["The task is too long.", ""],
  ] as const) {
    await using cli = await cliForTest({
      // biome-ignore lint/correctness/useYield: it is refused before anything comes.
      play: async function* () {
        throw new AppError("invalid_input", refusal);
      },
    });
    expect(await cli.run("run", "--flow", "sequential", "x")).toBe(2);
    const how = hint && `${hint}: bun manyhands flow NAME --agents A,B --option NAME=VALUE.`;
    expect(cli.said()).toEndWith(`${refusal}${how}\n`);
  }
});

test("an unknown flow, an empty task and an option without a value are refused before any agent is asked", async () => {
  for (const [args, code, sentence] of [
    [["nonsense", "x"], 2, "There is no flow"],
    [["planning"], 2, "The task is empty"],
    [["planning", "x", "--option", "approve"], 2, "NAME=VALUE"],
  ] as const) {
    await using cli = await cliForTest({ play: playing });
    expect([args, await cli.run("flow", ...args)]).toEqual([args, code]);
    expect(cli.said()).toContain(sentence);
    expect(cli.sent).toEqual([]);
  }
});

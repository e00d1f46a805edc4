import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { flows } from "@manyhands/flows/flows";
import { type RehearsedSystem, startRehearsedSystem } from "../servers/rehearsed-system.ts";

let system: RehearsedSystem;

beforeAll(async () => {
  system = await startRehearsedSystem();
});
afterAll(() => system?.[Symbol.asyncDispose]());

test("there are flows, each with an example", () => {
  expect(flows.length).toBeGreaterThanOrEqual(2);
});

test.each(flows.map(({ name }) => name))("the rehearsal model carries out the example of the flow %s", async (name) => {
  expectCompleted(await system.run("flow", name, "--example"));
});

test.each([["run"], ["flow planning"]])(
  "the rehearsal model answers the question that the guides ask: %s",
  async (words) => {
    const ended = await system.run(...words.split(" "), "How many primes are below 1000?");
    expectCompleted(ended);
    expect(ended.out).toContain("There are 168 primes below 1000.");
  },
);

function expectCompleted({ out, exitCode }: Awaited<ReturnType<RehearsedSystem["run"]>>): void {
  expect(out).toContain("✓ completed");
  expect(out).not.toContain("✗");
  expect(out).not.toContain("I cannot do this task");
  expect(exitCode).toBe(0);
}

test("a flow that is composed and saved over the API works at once, with its agents and options", async () => {
  const loop = flows.find(({ name }) => name === "loop");
  const { text, agents = [], options = {} } = loop?.example ?? { text: "" };
  const call = async (path: string, body: object) => {
    const response = await fetch(`${system.url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Prefer: "wait=60" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const composed = { flow: "loop", options: { ...options, agent: agents[0] } };
  expect(await call("/settings/flows/slogan/check", composed)).toEqual({ unknownAgents: [] });
  await call("/settings/flows/slogan", composed);
  const run = await call("/flows/slogan", { input: text });
  expect(run).toMatchObject({ name: "slogan", status: "completed", agents: ["manus"] });
  expect(await Bun.file(join(system.folder, "manyhands.toml")).text()).toStartWith('[flows.slogan]\nflow = "loop"\n');
});

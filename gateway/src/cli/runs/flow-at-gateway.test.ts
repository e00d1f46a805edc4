import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AgentInput, flowSettingsKey } from "manyhands/internal/core/runs/task";
import * as sessions from "../../session/open-session.ts";
import { cliForTest } from "../../testing/cli.ts";
import { echo, echoRun, startGateway, type TestFlow } from "../../testing/gateway.ts";

/** What the flows of the gateway were given, and in which conversation. */
const given: (AgentInput & { readonly contextId: string })[] = [];
const keeping = (name: string): TestFlow => ({
  runnable: { ...echo, name, kind: name, title: "It Keeps" },
  execute(run, input) {
    given.push({ ...(input as AgentInput), contextId: run.contextId });
    return echoRun(run, input);
  },
});

const gateway = await startGateway({ flows: [keeping("debate"), keeping("planning")] });
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => void given.splice(0));

const forAgents = (...agents: string[]) => ({ metadata: { [flowSettingsKey]: { agents } } });

/** A command line that finds the gateway only in the settings that `mine.toml` has. */
async function cliAtGateway(more = "") {
  const cli = await cliForTest({ reallyConnects: true });
  await writeFile(join(cli.cwd, "manyhands.toml"), "not the settings that are named");
  await writeFile(join(cli.cwd, "mine.toml"), `[gateway]\nport = ${new URL(gateway.url).port}\n${more}`);
  return cli;
}

test("a flow is given all that the command line says, at the gateway of the settings it names", async () => {
  await using cli = await cliAtGateway('[daytona]\ndaytona_api_key = "k"\n');
  await writeFile(join(cli.cwd, "form.json"), '{"type": "object"}');
  await writeFile(join(cli.cwd, "a.csv"), "1,2");
  const said = ["--context", "c7", "--budget-usd", "1.5", "--schema", "form.json", "--file", "a.csv"];
  expect(await cli.run("flow", "debate", "tabs?", ...said, "--agents", "swe", "--config", "mine.toml")).toBe(0);
  expect(given).toMatchObject([
    { contextId: "c7", budget: { usd: 1.5 }, outputSchema: { type: "object" }, message: forAgents("swe") },
  ]);
  expect(given[0]?.message.parts).toMatchObject([
    { type: "text", text: "tabs?" },
    { type: "file", name: "a.csv", mediaType: "text/csv", size: 3 },
  ]);
  expect(cli.out()).toContain("✓ completed");
  expect(cli.said()).toContain("[daytona] is not used");
  expect(cli.said()).toEndWith(' flow debate --config mine.toml --context c7 "…"\n');
});

test("an example comes with its files, for the agents that the settings have, in the conversation that is named", async () => {
  await using cli = await cliAtGateway("[agents.data-analysis]\nenabled = false\n");
  expect(await cli.run("flow", "planning", "--example", "--context", "c8", "--config", "mine.toml")).toBe(0);
  expect(given).toMatchObject([{ contextId: "c8", message: forAgents("manus") }]);
  const [file] = given[0]?.message.parts.filter((part) => part.type === "file") ?? [];
  expect(file).toMatchObject({ name: "orders.csv", mediaType: "text/csv" });
  const content = await gateway.artifacts.get(file?.sha256 ?? "");
  expect(await content?.text()).toBe("region,revenue\nnorth,120\nsouth,80\nnorth,30\n");
});

test("who is asked by a flow where nobody sits is told how to answer, and that pages close with servers of its own", async () => {
  await using cli = await cliAtGateway();
  const { openFlow } = sessions;
  for (const passing of [false, true]) {
    using _ = spyOn(sessions, "openFlow").mockImplementation(async (...of) => ({
      ...(await openFlow(...of)),
      passing,
    }));
    expect(await cli.run("flow", "debate", "ask me", "--config", "mine.toml")).toBe(3);
    expect(cli.said()).toMatch(/ runs answer --flow debate --config mine\.toml \S+ "…"\n$/);
    expect([passing, cli.said().includes("Pages and logins")]).toEqual([passing, passing]);
  }
});

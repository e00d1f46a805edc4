import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { plan, plannerForTest } from "../../flows/src/testing/planner.ts";
import { type GatewayServer, startGatewayServer } from "../servers/gateway-server.ts";
import { type ReadyProcess, startReady } from "../servers/ready-process.ts";

type Make = { readonly maker: string; readonly name: string; readonly command: readonly string[] };

const beside = (file: string) => resolve(import.meta.dir, file);
const hasPythonSdk = Bun.spawnSync(["python3", "-c", "import a2a, uvicorn, starlette"]).exitCode === 0;

/**
 * Agents made with the SDKs of the protocol's own project; the Python one only if it is installed.
 */
const makes: readonly Make[] = [
  { maker: "the A2A SDK", name: "sdk-sample", command: [process.execPath, beside("../servers/sdk-agent.fixture.ts")] },
  ...(hasPythonSdk
    ? [{ maker: "the Python SDK", name: "python-sample", command: ["python3", beside("python-agent.fixture.py")] }]
    : []),
];

let home: string;
let model: ScriptedModel;
let gateway: GatewayServer;
let servers: readonly ReadyProcess[];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "third-parties-"));
  model = await startScriptedModel(planner());
  const env = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  gateway = await startGatewayServer(home, env);
  servers = await Promise.all(makes.map(({ command }) => startReady(command)));
});

afterAll(async () => {
  await Promise.all([gateway, ...servers].map((server) => server.stop("SIGKILL")));
  await model.close();
  await rm(home, { recursive: true });
});

/**
 * Plans two steps for the agent that the goal names, the second with the first's result, and
 * records what it is shown.
 */
function planner() {
  const planned = (text: string) => {
    const agent = /for (\S+-sample)/.exec(text)?.[1] ?? "nobody";
    const first = { id: "one", text: "Make the first part", agent, expected: "a file" };
    return plan(first, { id: "two", text: "Make the second part", agent, depends_on: ["one"], expected: "a file" });
  };
  return plannerForTest({ plans: Array(makes.length).fill(planned), report: () => ({ text: "Both parts are made." }) });
}

async function textAt(url: string): Promise<string> {
  return (await fetch(url)).text();
}

for (const [index, { maker, name }] of makes.entries()) {
  test(`an agent made with ${maker} is registered by its address, under a name from its card`, async () => {
    const added = await gateway.call("/agents", { url: servers[index]?.url });
    expect([added.status, added.body.name, added.body.health]).toEqual([201, name, "up"]);
    expect(added.body.card.skills[0].id).toBe("sample");
  });

  test(`it works in a sequential flow: a message without a task, a question to the person, and a file (${maker})`, async () => {
    const steps = [
      { agent: name, instruction: "greet {goal}" },
      { agent: "skill:sample", instruction: "ask {previous}" },
      { agent: name, instruction: "finish {previous}" },
    ];
    const wait = { Prefer: "wait=20" };
    const asking = await gateway.call("/flows/sequential", { input: "the crew", options: { steps } }, wait);
    expect(asking.body).toMatchObject({ status: "input-required", question: expect.stringContaining("Which colour?") });
    const { id } = asking.body;
    expect((await gateway.call(`/runs/${id}/answer`, { input: "blue" })).status).toBe(202);
    const events = await textAt(`${gateway.url}/runs/${id}/events`);
    expect(events.match(/"agent-answered"/g)).toHaveLength(3);
    const run = (await gateway.call(`/runs/${id}`)).body;
    expect(run).toMatchObject({ status: "completed", answer: "Done: finish Done: blue" });
    const { files } = run;
    expect(files.map((file: { name: string }) => file.name)).toContain("made.txt");
    expect(await textAt(files.at(-1).url)).toContain("made for: finish Done: blue");
  });

  test(`it works in a planning flow, each step with the result it depends on (${maker})`, async () => {
    const { body } = await gateway.call("/flows/planning", { input: `Make both for ${name}` }, { Prefer: "wait=20" });
    expect(body).toMatchObject({ status: "completed", answer: "Both parts are made." });
    expect(await textAt(body.files[0].url)).toContain("made for: ");
    const events = await textAt(`${gateway.url}/runs/${body.id}/events`);
    const asked = events.split("\n").filter((line) => line.includes('"agent-asked"'));
    expect(asked).toHaveLength(2);
    expect(asked[1]).toContain("Done: ");
  });
}

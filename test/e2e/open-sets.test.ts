import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { freePort } from "manyhands/internal/http/free-port";
import { type ChatRequest, chatText } from "manyhands/internal/models/chat/chat-protocol";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";
import { type ScriptedModel, startScriptedModel } from "manyhands/testing";
import { plan, plannerForTest } from "../../flows/src/testing/planner.ts";
import { eventually } from "../a2a/rpc.ts";
import { type ReadyProcess, startReady } from "../servers/ready-process.ts";

const root = resolve(import.meta.dir, "../..");
const main = join(root, "gateway/src/cli/main.ts");

/** An agent as a person outside this repository writes it. */
const concierge = `
import { defineAgent, serveAgent } from "manyhands";

await serveAgent(
  defineAgent({
    name: "concierge",
    title: "Concierge",
    description: "Plans a day out.",
    instructions: "You plan days out.",
    skills: [{ id: "plan-day", name: "Plan a day", description: "Plans a day out.", tags: ["travel"], examples: [] }],
    tools: [],
  }),
);
`;

const trip = `
import { defineFlow } from "manyhands/internal/core/flow";
import * as z from "zod";

export const tour = defineFlow({
  name: "tour",
  title: "Trip",
  description: "Has the concierge plan each day of a trip.",
  version: "1.0.0",
  skills: [],
  options: z.strictObject({ days: z.int().min(1).max(9).default(1) }),
  example: { text: "Rome" },
  async perform(flow, { days }) {
    const plans = await flow.all(
      Array.from({ length: days }, (_, day) => async (branch) =>
        (await branch.ask("concierge", { text: \`\${flow.goal}, day \${day + 1}\` })).answer,
      ),
    );
    return { answer: plans.join(" / ") };
  },
});
`;

const settings = (visitor: string) => `
[agents.browser]
enabled = false
[agents.swe]
enabled = false
[agents.data-analysis]
enabled = false

[agents.manus]
extra_instructions = "Sign as M."

[agents.concierge]
entry = "agents/concierge.ts"

[agents.butler]
entry = "./agents/concierge.ts"
instructions_file = "butler.md"

[agents.visitor]
url = "${visitor}"

[flows.trip]
entry = "flows/trip.ts"
`;

let folder: string;
let model: ScriptedModel;
let visitor: ReadyProcess;
let env: Record<string, string>;
let system: ReturnType<typeof startSystem>;
let gateway: string;

/** Plans for the concierge, and, as an agent, answers from its input. */
const planner = plannerForTest({ plans: [plan({ text: "Plan a day in Rome", agent: "concierge" })] });
const isAgent = /You plan days out\.|You serve the house\.|You are Manus/;
function answer(request: ChatRequest) {
  const told = request.messages
    .filter(({ role }) => role === "system")
    .map(chatText)
    .join("\n");
  const asked = request.messages.findLast(({ role }) => role === "user");
  const said = asked === undefined ? "" : chatText(asked);
  return isAgent.test(told) ? { text: `${isAgent.exec(told)?.[0]} Asked: ${said}` } : planner(request);
}

function startSystem(cwd: string, more: Record<string, string> = {}) {
  const options = { cwd, env: { ...env, ...more }, stdin: "ignore", stdout: "ignore", stderr: "pipe" } as const;
  const child = Bun.spawn([process.execPath, main, "start"], options);
  let said = "";
  const { promise: up, resolve: isUp, reject } = Promise.withResolvers<void>();
  up.catch(() => undefined);
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      said += decoder.decode(chunk, { stream: true });
      if (said.includes("\nUp. ")) isUp();
    }
    reject(new Error(`It ended before it was up:\n${said}`));
  })();
  return { child, up, said: () => said };
}

async function manyhands(...args: string[]) {
  const options = { cwd: folder, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([process.execPath, main, ...args], options);
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, out, said };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
async function get(path: string): Promise<any> {
  return await (await fetch(`${gateway}${path}`)).json();
}

async function run(name: string, body: object) {
  const headers = { "Content-Type": "application/json", Prefer: "wait=60" };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return await (await fetch(`${gateway}/flows/${name}`, init)).json();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "open-sets-"));
  await Promise.all(["agents", "flows", "node_modules"].map((name) => mkdir(join(folder, name), { recursive: true })));
  await symlink(join(root, "shared"), join(folder, "node_modules/manyhands"));
  await symlink(await realpath(join(root, "shared/node_modules/zod")), join(folder, "node_modules/zod"));
  [model, visitor] = await Promise.all([
    startScriptedModel(answer),
    startReady([process.execPath, resolve(import.meta.dir, "../servers/sdk-agent.fixture.ts")]),
  ]);
  await writeFile(join(folder, "agents/concierge.ts"), concierge);
  await writeFile(join(folder, "flows/trip.ts"), trip);
  await writeFile(join(folder, "butler.md"), "You serve the house.\n");
  await writeFile(join(folder, "manyhands.toml"), settings(visitor.url));
  const ports = ["GATEWAY_PORT", "MANUS_PORT", "CONCIERGE_PORT", "BUTLER_PORT"].map((name) => [name, `${freePort()}`]);
  env = {
    ...bareEnvironment(),
    HOME: process.env.HOME ?? "",
    ...Object.fromEntries(ports),
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    SANDBOX: "off",
    NO_COLOR: "1",
  };
  gateway = `http://127.0.0.1:${env.GATEWAY_PORT}`;
  system = startSystem(folder);
  await system.up;
});

afterAll(async () => {
  system.child.kill("SIGTERM");
  await Promise.all([system.child.exited, visitor.stop("SIGKILL")]);
  await model.close();
  await rm(folder, { recursive: true });
});

test("agents of the settings with an entry are started, those with only a url are used, and disabled ones are absent", async () => {
  expect(system.said()).toContain(`  concierge  http://127.0.0.1:${env.CONCIERGE_PORT}  ·  model scripted`);
  // Those elsewhere are asked how they are once the gateway is up.
  const agents = await eventually(async () => {
    const told = (await get("/agents")).agents as Record<string, string>[];
    return told.some(({ health }) => health === "unknown") ? undefined : told;
  });
  const seen = agents.map(({ name, health, source }) => [name, health, source]);
  expect(seen).toEqual(["manus", "concierge", "butler", "visitor"].map((name) => [name, "up", "configured"]));
  const listed = await manyhands("agents", "list");
  expect(listed.out).toContain("concierge  ·  up");
  expect(listed.out).not.toContain("data-analysis");
});

test("an agent and a flow of the settings are available through every adapter", async () => {
  const names = ["trip", "planning", "manus", "concierge", "butler", "visitor"];
  const models = await get("/v1/models");
  expect(models.data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(names));
  const { flows } = await get("/flows");
  const added = flows.find(({ name }: { name: string }) => name === "trip");
  expect(added).toMatchObject({ title: "Trip", options: { properties: { days: { maximum: 9 } } } });
  for (const name of names) expect((await get(`/a2a/${name}/.well-known/agent-card.json`)).name).toBeString();
  const mcp = new Client({ name: "test", version: "1" });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${gateway}/mcp`)));
  const { tools } = await mcp.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  await mcp.close();
  const { out } = await manyhands("flow");
  expect(out).toContain("Has the concierge plan each day of a trip.");
  expect((await get("/.well-known/agent-card.json")).name).toBe("Manus");
});

test("the planning flow assigns a step to an agent of the settings", async () => {
  const done = await run("planning", { input: "Plan a day in Rome" });
  expect(done).toMatchObject({ status: "completed" });
  const asked = model.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(asked.some((text) => text.includes("You plan days out.") && text.includes("Plan a day in Rome"))).toBe(true);
  const planned = asked.find((text) => text.includes("- concierge: Plans a day out. Skills: Plan a day (travel)."));
  expect(planned).toBeDefined();
});

test("a flow of the settings asks agents, with its options, from the command line too", async () => {
  const done = await run("trip", { input: "Rome", options: { days: 2 } });
  expect(done).toMatchObject({ status: "completed" });
  const text = "You plan days out. Asked: Rome, day 1 / You plan days out. Asked: Rome, day 2";
  expect(JSON.stringify(done)).toContain(text);
  const { exitCode, out } = await manyhands("flow", "trip", "--option", "days=1", "Bari");
  expect(out).toContain("You plan days out. Asked: Bari, day 1");
  expect(exitCode).toBe(0);
});

test("an agent is asked by its name; one module can be several agents, each with its own table's instructions", async () => {
  const butler = await manyhands("run", "--agent", "butler", "Who are you?");
  expect(butler.out).toContain("You serve the house. Asked: Who are you?");
  const listed = await manyhands("runs", "list", "--agent", "butler");
  expect(listed.out).toContain("Who are you?");
  const unknown = await manyhands("run", "--agent", "swe", "hello");
  expect(unknown).toMatchObject({ exitCode: 2 });
  expect(unknown.said).toContain('There is no agent "swe". There are: manus, concierge, butler, visitor;');
});

test("extra instructions reach the model after an agent's own, and the agent can ask every agent present", async () => {
  const { exitCode } = await manyhands("run", "hello");
  expect(exitCode).toBe(0);
  const request = model.requests
    .map(({ body }) => body)
    .findLast(({ messages }) => JSON.stringify(messages).includes("You are Manus"));
  const told = chatText(request?.messages[0] as ChatRequest["messages"][number]);
  expect(told).toMatch(/^You are Manus[\s\S]*\n\nSign as M\.\n\nToday is/);
  const delegate = request?.tools?.find((tool) => tool.function.name === "delegate");
  expect(delegate?.function.parameters).toMatchObject({
    properties: { agent: { enum: ["concierge", "butler", "visitor"] } },
  });
});

test.each([
  [
    '[agents.lost]\nentry = "lost.ts"\n',
    /^bad\.toml, line 2: agents\.lost\.entry cannot be "lost\.ts": it is neither a file \(\S+lost\.ts\) nor a package\. Allowed: /,
  ],
  ["[agents.lost]\nport = 1\n", "[agents.lost] has neither entry nor url."],
  ['[agents.planning]\nurl = "http://127.0.0.1:1"\n', "planning is the name of a flow"],
  [
    '[agents.manus]\ninstructions_file = "none.md"\n',
    'agents.manus.instructions_file cannot be "none.md": there is no file',
  ],
  ['[flows.trip]\nentry = "agents/nothing.ts"\n', "it is neither a file"],
  [
    '[flows.trip]\nentry = "butler.ts"\n',
    "exports no flow, but butler. Allowed: a module with one export made with defineFlow",
  ],
  ['[flows.loop]\nentry = "flows/trip.ts"\n', "loop is a flow of this system"],
  [
    '[flows.concierge]\nentry = "flows/trip.ts"\n[agents.concierge]\nentry = "agents/concierge.ts"\n',
    "concierge is an agent of this system",
  ],
])("nothing is started with impossible settings: %j", async (text, message) => {
  await writeFile(join(folder, "bad.toml"), text);
  await writeFile(join(folder, "butler.ts"), "export const butler = 1;\n");
  const { exitCode, said } = await manyhands("start", "--config", "bad.toml");
  if (typeof message === "string") expect(said).toContain(message);
  else expect(said).toMatch(message);
  expect(said.trim().split("\n").length).toBe(1);
  expect(exitCode).toBe(2);
});

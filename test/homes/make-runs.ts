import { Database } from "bun:sqlite";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { rpc, textMessage, type Wire } from "../a2a/rpc.ts";
import { holdStill } from "./store.ts";
import { actingFor, eventually, type System } from "./system.ts";

const steps = (...words: readonly string[]) => ({
  steps: words.map((word, index) => ({
    agent: index % 2 === 0 ? "manus" : "data-analysis",
    instruction: `do:${word}`,
  })),
});
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

/**
 * A message that is sent when a home is made, and again when it is opened: the same id and content
 * are the same task.
 */
export const sentTwice = {
  message: {
    messageId: "sent-twice",
    role: "ROLE_USER",
    parts: [
      { text: "What is in the picture? do:picture" },
      { raw: dot, filename: "dot.png", mediaType: "image/png" },
      { data: { note: "of the sender", agents: 2 } },
    ],
    metadata: { "sender/mark": 1 },
  },
};

/**
 * A request that starts a flow, with an idempotency key: it too is repeated when the home is
 * opened.
 */
export const begunTwice = { input: "Once. do:twice", options: steps("twice") };

/**
 * Makes every kind of run, in a system that holds replies back, and leaves the home held still with
 * its servers up.
 */
export async function makeRuns(system: System): Promise<void> {
  await makePaused(system);
  await makeFinished(system);
  await makeWaiting(system);
  await makeHalfDone(system);
  holdStill(system.path);
  await makeQueued(system);
}

/** Starts a run over REST and returns its id. */
export async function begin(
  { urls, headers }: System,
  name: string,
  body: object,
  key: string = crypto.randomUUID(),
): Promise<string> {
  const response = await fetch(`${urls.gateway}/flows/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": key, ...headers },
    body: JSON.stringify(body),
  });
  const view: Wire = await response.json();
  if (view.id === undefined) throw new Error(`${name} was not begun: ${JSON.stringify(view)}`);
  return view.id;
}

async function runOf({ urls, headers }: System, id: string): Promise<Wire> {
  return (await fetch(`${urls.gateway}/runs/${id}`, { headers })).json();
}

const endStatuses = ["completed", "failed", "canceled"];

/** Waits until a run is in one of these states. */
function until(system: System, id: string, ...statuses: readonly string[]): Promise<Wire> {
  return eventually(`${id} is ${statuses.join(" or ")}`, async () => {
    const run = await runOf(system, id);
    if (statuses.includes(run.status)) return run;
    if (endStatuses.includes(run.status) || run.question !== undefined)
      throw new Error(`Not so: ${JSON.stringify(run)}\n${system.play.done.join("\n")}`);
    return undefined;
  });
}

async function whole(system: System, name: string, body: object, ...statuses: readonly string[]): Promise<Wire> {
  return until(system, await begin(system, name, body), ...(statuses.length === 0 ? ["completed"] : statuses));
}

/** Answers a run over REST. */
export async function say({ urls, headers }: System, id: string, input: string): Promise<void> {
  const response = await fetch(`${urls.gateway}/runs/${id}/answer`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ input }),
  });
  if (!response.ok) throw new Error(`${id} did not take ${input}: ${await response.text()}`);
}

/** Waits until the model or a tool has received this and holds it back. */
async function held({ play }: System, ...words: readonly string[]): Promise<void> {
  for (const word of words)
    await eventually(
      () => `${word} is held, of ${play.open.join(", ")}; ${play.done.slice(-12).join(", ")}`,
      () => play.open.some((name) => new RegExp(`\\b${word}\\b`).test(name)),
    );
}

/** Cancels a run once the request with this word is held back. */
async function canceled(system: System, id: string, word: string): Promise<void> {
  await held(system, word);
  await fetch(`${system.urls.gateway}/runs/${id}/cancel`, { method: "POST" });
  await until(system, id, "canceled");
}

/**
 * A run that is paused because other code continued it: its journal has another step than the code
 * asks for.
 */
async function makePaused(system: System): Promise<void> {
  const { body } = await rpc(system.urls.manus, "SendMessage", quick("Change it. do:changed"));
  const { id } = body.result.task;
  await held(system, "changed");
  await system.kill("manus");
  const rename = (from: string, to: string) => {
    using db = new Database(system.path);
    db.run("PRAGMA busy_timeout = 5000");
    db.run("UPDATE journal SET name = ? WHERE name = ? AND run = (SELECT n FROM runs WHERE id = ?)", [to, from, id]);
  };
  rename("model", "model-of-others");
  await system.start("manus");
  await eventually("the run is paused", async () => {
    using db = new Database(system.path, { readonly: true });
    return db.query("SELECT 1 FROM runs WHERE id = ? AND status = 'paused'").get(id) !== null;
  });
  rename("model-of-others", "model");
}

/** The parameters of a message whose answer is the task as accepted. */
function quick(text: string, over: object = {}): object {
  return textMessage(text, over, { returnImmediately: true });
}

async function makeFinished(system: System): Promise<void> {
  const { urls } = system;
  const first = await whole(system, "manus", { input: "Make a file. do:files" });
  await whole(system, "manus", { input: "And now? do:again", contextId: first.contextId });
  await rpc(urls.manus, "SendMessage", sentTwice);
  const older = {
    kind: "message",
    messageId: "older-1",
    role: "user",
    parts: [{ kind: "text", text: "Count. do:older" }],
  };
  await rpc(urls["data-analysis"], "message/send", { message: older }, { headers: { "A2A-Version": "0.3" } });
  await whole(system, "manus", { input: "Write notes. do:notes" });
  const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
  await whole(system, "manus", { input: "How many? do:schema", outputSchema: schema });
  const asking = await whole(system, "manus", { input: "Format it. do:question" }, "input-required");
  await say(system, asking.id, "Tabs.");
  await until(system, asking.id, "completed");
  await whole(system, "manus", { input: "Have it counted. do:hand" });
  await whole(system, "manus", { input: "Break. do:broken" }, "failed");
  await whole(system, "manus", { input: "Give up. do:gives" }, "failed");
  await canceled(system, await begin(system, "manus", { input: "Never end. do:endless" }), "endless");
  await makeFinishedFlows(system);
  await makeOverAdapters(system);
  await makeForAlice(actingFor(system, "alice"), first.contextId);
}

/**
 * Runs of somebody else, in a conversation that has the name of another of ours, and one that
 * waits.
 */
async function makeForAlice(system: System, contextId: string): Promise<void> {
  await whole(system, "manus", { input: "Make a file. do:files", contextId });
  await whole(system, "manus", { input: "And now? do:again", contextId });
  const { headers } = system;
  await rpc(system.urls.manus, "SendMessage", sentTwice, { headers });
  await begin(system, "sequential", begunTwice, "begun-twice");
  await whole(system, "manus", { input: "Which one? do:asking" }, "input-required");
}

async function makeFinishedFlows(system: System): Promise<void> {
  const agents = ["manus", "data-analysis"];
  const line = await whole(system, "sequential", { input: "In a line.", options: steps("one", "two") });
  await until(system, await begin(system, "sequential", begunTwice, "begun-twice"), "completed");
  await whole(system, "sequential", { input: "Again.", contextId: line.contextId, options: steps("three") });
  await whole(system, "sequential", { input: "In vain.", options: steps("yields") }, "failed");
  await whole(system, "sequential", {
    input: "Half in vain.",
    options: { ...steps("gives", "four"), onFailure: "continue" },
  });
  const branches = steps("left", "right").steps;
  await whole(system, "parallel", { input: "Side by side. flow:sides", options: { branches, aggregate: "model" } });
  await whole(system, "parallel", {
    input: "For each.",
    agents,
    options: { items: ["a", "b", "c"], policy: "any", rest: "await" },
  });
  const ways = [
    { name: "table", agent: "data-analysis", rules: [{ keywords: ["table"] }], instruction: "do:table" },
    { name: "words", when: "Words.", agent: "manus", instruction: "do:words" },
  ];
  await whole(system, "conditional", { input: "Fill the table.", options: { branches: ways } });
  await whole(system, "conditional", { input: "Say it. flow:sorted", options: { branches: ways } });
  await whole(system, "loop", {
    input: "Draft it. do:draft flow:draft",
    agents: ["manus"],
    options: { until: { by: "model" } },
  });
  await whole(
    system,
    "loop",
    { input: "Never right. do:wrong flow:wrong", agents: ["manus"], options: { maxIterations: 2 } },
    "failed",
  );
  const positions = [
    { agent: "manus", position: "It is so." },
    { agent: "data-analysis", position: "It is not." },
  ];
  await whole(system, "debate", { input: "Is it so? do:debated flow:debated", options: { positions, rounds: 2 } });
  const file = { name: "in.csv", bytes: btoa("n\n1\n2\n") };
  await whole(system, "planning", { input: { text: "Plan it. flow:plan", files: [file] }, agents });
  const refused = await whole(
    system,
    "planning",
    { input: "Plan nothing. flow:refused", agents, options: { approve: true } },
    "input-required",
  );
  await say(system, refused.id, "no");
  await until(system, refused.id, "failed");
  const unending = await begin(system, "sequential", { input: "No end.", options: steps("unending") });
  await canceled(system, unending, "unending");
}

/** Runs started over MCP, A2A and OpenAI's API. */
async function makeOverAdapters(system: System): Promise<void> {
  const { gateway } = system.urls;
  const mcp = new Client({ name: "test", version: "1" });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${gateway}/mcp`)));
  await mcp.callTool({ name: "sequential", arguments: { task: "By MCP.", options: steps("mcp") } });
  await mcp.close();
  const settings = { data: { agents: ["manus"], options: { until: { by: "model", criteria: "draft 2 flow:a2a" } } } };
  const parts = [{ text: "By A2A. do:draft flow:a2a" }, settings, { data: { of: "the task" } }];
  await rpc(`${gateway}/a2a/loop`, "SendMessage", textMessage("", { parts }));
  await fetch(`${gateway}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ model: "manus", messages: [{ role: "user", content: "By chat. do:chat" }] }),
  });
}

async function makeWaiting(system: System): Promise<void> {
  const agents = ["manus", "data-analysis"];
  const ways = [
    { name: "table", when: "Tables.", agent: "data-analysis", instruction: "do:unsure" },
    { name: "words", when: "Words.", agent: "manus", instruction: "do:unsure" },
  ];
  const waiting = [
    ["manus", { input: "Which one? do:asking" }],
    ["manus", { input: "Ship it. do:deploy" }],
    ["manus", { input: "Pass it on. do:relay" }],
    ["sequential", { input: "Ask me.", options: steps("shy") }],
    ["planning", { input: "Ask first. flow:approved", agents, options: { approve: true } }],
    ["conditional", { input: "Either. flow:unsure", options: { branches: ways, unsure: "ask" } }],
  ] as const;
  for (const [name, body] of waiting) await whole(system, name, body, "input-required");
  const { body } = await rpc(system.urls.manus, "SendMessage", quick("Be patient. do:away"));
  await eventually("it sleeps", () => isWaiting(system, body.result.task.id), 60_000);
}

function isWaiting({ path }: System, id: string): boolean {
  using db = new Database(path, { readonly: true });
  return db.query("SELECT 1 FROM runs WHERE id = ? AND status = 'waiting' AND due IS NOT NULL").get(id) !== null;
}

/**
 * Runs in progress when their servers are killed: in a model call, a tool call, an ask, between
 * steps.
 */
async function makeHalfDone(system: System): Promise<void> {
  const { urls } = system;
  const agents = ["manus", "data-analysis"];
  await begin(system, "manus", { input: "Do it slowly. do:slow" });
  await begin(system, "manus", { input: "Lend it. do:lend" });
  const thinking = await rpc(urls.manus, "SendMessage", quick("Think. do:thinking"));
  await begin(system, "sequential", { input: "Late.", options: steps("early", "late") });
  await begin(system, "planning", { input: "Work on it. flow:working", agents });
  await begin(system, "planning", { input: "Check it. flow:checking", agents });
  const branches = steps("half", "branch").steps;
  await begin(system, "parallel", { input: "By halves.", options: { branches } });
  const ways = [{ name: "table", agent: "data-analysis", rules: [{ keywords: ["table"] }], instruction: "do:chosen" }];
  await begin(system, "conditional", { input: "The table.", options: { branches: ways } });
  await begin(system, "loop", { input: "Redraft. do:redraft flow:redraft", agents: ["manus"] });
  const positions = [
    { agent: "manus", position: "Yes." },
    { agent: "data-analysis", position: "No." },
  ];
  await begin(system, "debate", { input: "Argue. do:argue flow:argue", options: { positions, rounds: 2 } });
  await held(
    system,
    "slow",
    "lent",
    "thinking",
    "late",
    "working_write",
    "flow:checking_find",
    "branch",
    "chosen",
    "redraft",
    "argue",
  );
  await eventually("both debaters argue", () => system.play.open.filter((name) => name.includes("argue")).length === 2);
  const { id } = thinking.body.result.task;
  await rpc(urls.manus, "SendMessage", quick("And be brief.", { taskId: id }));
}

/** Runs that no server has started. */
async function makeQueued(system: System): Promise<void> {
  const { urls } = system;
  await begin(system, "sequential", { input: "Later.", options: steps("queued", "queued_too") });
  await rpc(urls["data-analysis"], "SendMessage", quick("Later. do:queued_agent"));
  const settings = { data: { agents: ["manus", "data-analysis"], options: { attempts: 1 } } };
  const parts = [{ text: "Plan later. flow:queued_plan" }, settings, { data: { of: "the task" } }];
  await rpc(`${urls.gateway}/a2a/planning`, "SendMessage", {
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts },
    configuration: { returnImmediately: true },
  });
}

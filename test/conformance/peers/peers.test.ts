import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import type { ChatRequest } from "manyhands/internal/models/chat/chat-protocol";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { plan, plannerForTest } from "../../../flows/src/testing/planner.ts";
import { type GatewayServer, startGatewayServer } from "../../servers/gateway-server.ts";
import { type AgentServer, startManus } from "../../servers/manus-server.ts";
import { startReady } from "../../servers/ready-process.ts";
import { isInstalled, type Peer, peers, scriptOf, unlessInstalled } from "./peers.ts";

/** Most milliseconds for one conversation, the start of a peer's interpreter included. */
const longest = 120_000;

let home: string;
let model: ScriptedModel;
let echo: ScriptedModel;
let manus: AgentServer;
let gateway: GatewayServer;

beforeAll(async () => {
  if (!peers.some(isInstalled)) return;
  home = await mkdtemp(join(tmpdir(), "peers-"));
  const steps = plan({ text: "Say hello.", agent: "manus", expected: "a hello" });
  const planner = plannerForTest({ plans: Array(peers.length).fill(steps) });
  // An agent has many tools, a flow's own calls have one or none.
  model = await startScriptedModel((request) => ((request.tools?.length ?? 0) > 1 ? host(request) : planner(request)));
  echo = await startScriptedModel(echoing);
  const scripted = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", MANYHANDS_MODEL: "scripted" };
  manus = startManus({ MANYHANDS_HOME: home, PORT: `${freePort()}`, SANDBOX: "off", ...scripted });
  await manus.ready;
  gateway = await startGatewayServer(home, { MANUS_URL: manus.url, ...scripted });
}, 60_000);

afterAll(async () => {
  if (!peers.some(isInstalled)) return;
  await Promise.all([gateway.stop("SIGKILL"), manus.stop("SIGKILL")]);
  await Promise.all([model.close(), echo.close()]);
  await rm(home, { recursive: true });
});

const textOf = (content: unknown): string => (typeof content === "string" ? content : JSON.stringify(content ?? ""));

/**
 * Greets whoever says hello, writes a greeting for whom it has to ask about, and remembers what was
 * said before.
 */
function host({ messages }: ChatRequest) {
  const at = messages.findLastIndex(
    ({ role, content }) => role === "user" && /hello|greeting|first/.test(textOf(content)),
  );
  const said = textOf(messages[at]?.content);
  if (said.includes("What did I say first?")) {
    const before = messages.slice(0, at).some(({ content }) => textOf(content).includes("Say hello."));
    return { text: before ? "You said: Say hello." : "You have said nothing before." };
  }
  if (!said.includes("Write a greeting.")) return { text: "Hello there." };
  const [name] = messages.slice(at + 1).flatMap(({ role, content }) => (role === "tool" ? [textOf(content)] : []));
  if (name !== undefined) return { text: `Dear ${name.trim()}, hello!` };
  return { text: "One question first.", calls: [{ name: "ask_human", args: { inquire: "Who is to be greeted?" } }] };
}

/** Answers with what it was last told, as text or through the tool that a framework wants used. */
function echoing({ messages, tools = [] }: ChatRequest) {
  const said = `Echo: ${textOf(messages.findLast(({ role }) => role === "user")?.content)}`;
  const final = tools.some((tool) => JSON.stringify(tool).includes('"final_answer"'));
  return final ? { calls: [{ name: "final_answer", args: { response: said } }] } : { text: said };
}

/** What the peer's client hears to each text, told to the agent at this address. */
async function converse(peer: Peer, url: string, texts: readonly string[]): Promise<string[]> {
  const { command, env } = scriptOf(peer);
  const child = Bun.spawn([...command, "client", url, ...texts], { env, stdout: "pipe", stderr: "pipe" });
  const [heard, log] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${peer.name}: ${log.slice(-4_000)}`);
  return heard.split("\n").flatMap((line) => (line.startsWith('"') ? [JSON.parse(line) as string] : []));
}

const hosts: readonly (readonly [what: string, url: () => string])[] = [
  ["an agent", () => manus.url],
  // Some clients drop what follows the last slash of an address.
  ["the gateway's agent", () => `${gateway.url}/a2a/manus/`],
];

for (const peer of peers) {
  const { client, serves, name } = peer;
  for (const [what, url] of client === undefined ? [] : hosts) {
    test.skipIf(!isInstalled(peer))(
      `${name} talks to ${what} as its client${unlessInstalled(peer)}`,
      async () => {
        const told = ["Say hello.", ...(client?.keepsContext ? ["What did I say first?"] : []), "Write a greeting."];
        const heard = await converse(peer, url(), client?.answersQuestions ? [...told, "Ada"] : told);
        const wanted = ["Hello there.", ...(client?.keepsContext ? ["You said: Say hello."] : [])];
        expect(heard.slice(0, wanted.length)).toEqual(wanted);
        expect(heard[wanted.length]).toContain("Who is to be greeted?");
        if (client?.answersQuestions) expect(heard[wanted.length + 1]).toContain("Dear Ada, hello!");
      },
      longest,
    );
  }

  if (client !== undefined)
    test.skipIf(!isInstalled(peer))(
      `${name} hears a flow's answer${unlessInstalled(peer)}`,
      async () => {
        // Some clients add what else there is: the plan, as text and as data.
        const [answer] = await converse(peer, `${gateway.url}/a2a/planning/`, ["Plan a hello."]);
        expect(answer).toContain("Hello there.");
      },
      longest,
    );

  if (!serves) continue;
  test.skipIf(!isInstalled(peer))(
    `an agent of ${name} is registered by its address and works in a flow and through the gateway${unlessInstalled(peer)}`,
    async () => {
      const { command, env } = scriptOf(peer);
      const server = await startReady([...command, "server"], { env: { ...env, OPENAI_BASE_URL: echo.url } });
      try {
        const added = await gateway.call("/agents", { url: server.url });
        expect([added.status, added.body.health]).toEqual([201, "up"]);
        const steps = [{ agent: added.body.name, instruction: "repeat {goal}" }];
        const request = { input: "the word", options: { steps } };
        const run = await gateway.call("/flows/sequential", request, { Prefer: "wait=60" });
        const answer = expect.stringMatching(/Echo: .*repeat the word/s);
        expect(run.body).toMatchObject({ status: "completed", answer });
        const params = { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "again" }] } };
        const rpc = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
        const { body } = await gateway.call(`/a2a/${added.body.name}`, rpc, { "A2A-Version": "1.0" });
        expect(JSON.stringify(body.result)).toContain("Echo: ");
      } finally {
        await server.stop("SIGKILL");
      }
    },
    longest,
  );
}

const inspector = peers.find(({ name }) => name === "a2a-inspector");
test.skipIf(inspector === undefined || !isInstalled(inspector))(
  `a2a-inspector has nothing to say against our cards and events${inspector === undefined ? "" : unlessInstalled(inspector)}`,
  async () => {
    const lines: [kind: string, value: unknown][] = [];
    for (const [, url] of hosts) {
      lines.push(["card", await (await fetch(`${url().replace(/\/$/, "")}/.well-known/agent-card.json`)).json()]);
      for (const text of ["Say hello.", "Write a greeting."]) {
        for (const method of ["message/send", "message/stream"]) {
          const parts = [{ kind: "text", text }];
          const message = { kind: "message", messageId: crypto.randomUUID(), role: "user", parts };
          const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } });
          const headers = { "Content-Type": "application/json" };
          const said = await (await fetch(url(), { method: "POST", body, headers })).text();
          for (const line of said.split("\n"))
            if (/^(data: )?\{/.test(line)) lines.push(["event", JSON.parse(line.replace(/^data: /, "")).result]);
        }
      }
    }
    const { command, env } = scriptOf(inspector as Peer);
    const child = Bun.spawn(command, { env, stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    await child.stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await child.stdin.end();
    const verdicts = (await new Response(child.stdout).text()).trim().split("\n");
    const said = verdicts.map((verdict, at) => [lines[at]?.[0], JSON.parse(verdict)]);
    expect(said).toEqual(lines.map(([kind]) => [kind, []]));
    expect(lines.length).toBeGreaterThan(20);
  },
  longest,
);

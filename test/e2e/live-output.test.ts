import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { noPostgres, postgresPrograms, startPostgres } from "manyhands/internal/testing/durable/postgres-process";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { startGatewayServer } from "../servers/gateway-server.ts";
import { type AgentServer, startAgent, startManus } from "../servers/manus-server.ts";

if (postgresPrograms === undefined) console.warn(noPostgres);

const waitMs = 60_000;
const begins = "compiling 7 of 9";

let home: string;
let model: ScriptedModel;
let postgres: Awaited<ReturnType<typeof startPostgres>> | undefined;
const servers: { stop(signal: NodeJS.Signals): Promise<unknown> }[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "live-output-"));
  const until = (file: string) => `while [ ! -e ${file} ]; do sleep 0.05; done`;
  // Prints half a line, so that nobody can wait for its end, once somebody looks.
  const command = `${until("watched")}; printf '${begins}'; ${until("go-on")}; echo ' done'`;
  model = await startScriptedModel(({ messages }) => {
    if (messages.at(-1)?.role === "tool") return { text: "It is built." };
    const isAsked = JSON.stringify(messages).includes("Build the part.");
    return {
      calls: [
        isAsked
          ? { name: "bash", args: { command } }
          : { name: "delegate", args: { agent: "swe", task: "Build the part." } },
      ],
    };
  });
}, waitMs);

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop("SIGKILL")));
  await rm(join(home, "workspaces"), { recursive: true, force: true });
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
  await model.close();
  await rm(home, { recursive: true });
});

/** With the runs in the home, or in a database through which progress comes another way, too. */
const stores: readonly (readonly [string, () => Promise<Record<string, string>>])[] = [
  ["in their home", async () => ({})],
  ...(postgresPrograms === undefined
    ? []
    : [
        [
          "in a database",
          async () => ({ MANYHANDS_ENGINE_KIND: "postgres", MANYHANDS_ENGINE_URL: await database() }),
        ] as const,
      ]),
];

async function database(): Promise<string> {
  postgres ??= await startPostgres();
  return postgres.createDatabase();
}

const scripted = () => ({
  MANYHANDS_HOME: home,
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: "none",
  MANYHANDS_MODEL: "scripted",
});

async function started(server: AgentServer): Promise<AgentServer> {
  servers.push(server);
  await server.ready;
  return server;
}

/** Makes a file that the command waits for, in its workspace. */
async function make(file: string): Promise<void> {
  const folder = join(home, "workspaces");
  // Those with a dot are the servers' own.
  const names = (await readdir(folder)).filter((name) => !name.startsWith("."));
  for (const name of names) await writeFile(join(folder, name, "files", file), "");
}

type Frame = {
  readonly runId?: string;
  readonly event?: { readonly type: string };
  readonly progress?: { readonly type: string; readonly text: string };
  readonly asked?: { readonly id: string; readonly name: string };
};

/** The data of server-sent events, as they come, until the reader stops or they end. */
async function* framesOf(url: string): AsyncGenerator<Frame> {
  const response = await fetch(url, { signal: AbortSignal.timeout(waitMs) });
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const frames = (text + piece).split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) yield JSON.parse(data.slice(6));
    }
  }
}

test.each(stores)(
  "what a command prints is shown while it runs, once, in the tree under the run of the agent that another agent asked: runs %s",
  async (_, stored) => {
    const store = await stored();
    const swe = await started(startAgent("swe", { ...scripted(), ...store, PORT: `${freePort()}` }));
    const delegates = { ...store, SWE_URL: swe.url, MANYHANDS_AGENTS_MANUS_DELEGATES: "swe" };
    const manus = await started(startManus({ ...scripted(), SANDBOX: "off", ...delegates, PORT: `${freePort()}` }));
    const gateway = await startGatewayServer(home, { ...scripted(), ...store, MANUS_URL: manus.url, SWE_URL: swe.url });
    servers.push(gateway);
    const { body } = await gateway.call("/flows/sequential", { input: "Build it.", agents: ["manus"] });
    const names = new Map<string, string>();
    const printed: { name: string | undefined; text: string }[] = [];
    const later: string[] = [];
    for await (const { asked, runId = "", progress, event } of framesOf(`${gateway.url}/runs/${body.id}/tree`)) {
      if (asked !== undefined) names.set(asked.id, asked.name);
      if (progress?.type === "tool-output") {
        printed.push({ name: names.get(runId), text: progress.text });
        if (progress.text === begins) await make("go-on");
      }
      if (event?.type === "tool-started" && names.get(runId) === "swe") await make("watched");
      if (event?.type === "tool-ended") later.push(`${names.get(runId)} after ${printed.length}`);
    }
    expect(printed.map(({ name }) => name)).toEqual(printed.map(() => "swe"));
    // What is printed at the very end may come too late, and is in the call's result.
    const text = printed.map((one) => one.text).join("");
    expect([begins, `${begins} done\n`]).toContain(text);
    expect(later).toContain(`swe after ${printed.length}`);
  },
  waitMs,
);

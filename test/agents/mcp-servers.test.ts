import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import {
  type ModelScript,
  type ScriptedModel,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";
import { rpc, type Wire } from "../a2a/rpc.ts";
import { type EverythingServer, startEverything } from "../mcp/everything-server.ts";
import { fixture, installed } from "../mcp/host-for-test.ts";
import { playwrightServer, shop } from "../mcp/playwright-server.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

const python = Bun.which("python3");
const hasPythonSdk = python !== null && Bun.spawnSync([python, "-c", "import mcp.server"]).exitCode === 0;

let home: string;
let shared: string;
let web: readonly EverythingServer[];
let model: ScriptedModel;
let manus: AgentServer;

type Play = (said: readonly string[]) => { readonly name: string; readonly args: object };

/** The model's calls for the first word of a task, in order. */
const plays: Readonly<Record<string, readonly Play[]>> = {
  stdio: [() => ({ name: "every__echo", args: { message: "over stdio" } })],
  stream: [() => ({ name: "stream__echo", args: { message: "over streamable HTTP" } })],
  events: [() => ({ name: "events__echo", args: { message: "over the older event stream" } })],
  pictures: [
    () => ({ name: "stream__get-tiny-image", args: {} }),
    () => ({ name: "every__get-resource-links", args: { count: 3 } }),
  ],
  files: [
    () => ({ name: "files__write_file", args: { path: join(shared, "b.txt"), content: "written by Manus" } }),
    () => ({ name: "files__read_text_file", args: { path: join(shared, "b.txt") } }),
  ],
  shop: [
    () => ({ name: "page__browser_navigate", args: { url: shop } }),
    () => ({ name: "page__browser_snapshot", args: {} }),
    (said) => {
      const target = /button "Buy" \[ref=(\w+)\]/.exec(said.join("\n"))?.[1];
      return { name: "page__browser_click", args: { element: "Buy", target, ref: target } };
    },
  ],
  first: [() => ({ name: "v1__add", args: { a: 20, b: 22 } })],
  python: [() => ({ name: "python__shout", args: { text: "hello", times: 2 } })],
};

const script: ModelScript = ({ messages }) => {
  const said = messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
  const task = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
  const play = Object.entries(plays).find(([word]) => task.includes(`use ${word}`))?.[1];
  const next = play?.[said.length];
  return next === undefined ? { text: said.join("\n") } : { calls: [next(said)] };
};

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-e2e-"));
  await chmod(home, 0o711);
  shared = join(home, "shared");
  await mkdir(shared, { mode: 0o777 });
  await chmod(shared, 0o777);
  web = await Promise.all([startEverything("streamableHttp"), startEverything("sse")]);
  const mcpServers = {
    every: installed("@modelcontextprotocol/server-everything/dist/index.js", "stdio"),
    stream: { type: "http", url: web[0]?.url },
    events: { type: "sse", url: web[1]?.url },
    files: {
      ...installed("@modelcontextprotocol/server-filesystem/dist/index.js", shared),
      write: [shared],
      approve: "never",
    },
    page: { ...(await playwrightServer()), approve: "never" },
    v1: fixture("v1-server"),
    ...(hasPythonSdk && {
      python: { command: python, args: [resolve(import.meta.dir, "../mcp/python-server.fixture.py")] },
    }),
  };
  await writeFile(join(home, "mcp.json"), JSON.stringify({ mcpServers }));
  model = await startScriptedModel(script);
  manus = startManus({
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
  });
  await manus.ready;
});

afterAll(async () => {
  await manus.stop();
  await model.close();
  await Promise.all(web.map((one) => one[Symbol.asyncDispose]()));
  await rm(home, { recursive: true, force: true });
});

/**
 * Has Manus do a task over A2A; returns its answer, which is what the servers' tools returned, and
 * the names of its files.
 */
async function doneBy(text: string): Promise<{ answer: string; files: string[] }> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] };
  const { body } = await rpc(manus.url, "SendMessage", { message });
  const task: Wire = body.result?.task;
  expect(task.status).toMatchObject({ state: "TASK_STATE_COMPLETED" });
  const answer = task.artifacts?.find(({ name }: Wire) => name === "answer")?.parts[0].text;
  return { answer, files: task.artifacts?.map(({ name }: Wire) => name) };
}

test.each([
  ["server-everything over stdio", "stdio", "Echo: over stdio"],
  ["server-everything over streamable HTTP", "stream", "Echo: over streamable HTTP"],
  ["server-everything over the older event stream", "events", "Echo: over the older event stream"],
  ["server-filesystem", "files", "written by Manus"],
  ["@playwright/mcp, with Chromium", "shop", "Bought"],
  ["a server on the first SDK", "first", "42"],
])("Manus uses %s", async (_, word, said) => {
  expect((await doneBy(`use ${word}`)).answer).toContain(said);
});

test.skipIf(!hasPythonSdk)(
  "Manus uses a server made with the Python SDK (skipped where that is not installed)",
  async () => {
    expect((await doneBy("use python")).answer).toContain("HELLO! HELLO!");
  },
);

test("images and linked resources become files of the task", async () => {
  const { answer, files } = await doneBy("use pictures");
  expect(answer).toContain("Image 1: image/png");
  expect(files).toContainEqual(expect.stringMatching(/^mcp\/stream\/get-tiny-image-\w+\.png$/));
  expect(files.filter((name) => name.startsWith("mcp/every/")).length).toBeGreaterThan(1);
});

test("its health shows each server's transport", async () => {
  const { mcp } = (await (await fetch(`${manus.url}/healthz`)).json()) as Wire;
  const versions = Object.fromEntries(
    mcp.servers.map(({ name, state, version }: Wire) => [name, `${state} ${version}`]),
  );
  expect(versions).toMatchObject({
    every: "ready 2025-11-25",
    stream: "ready 2025-11-25",
    events: "ready 2025-11-25",
    v1: "ready 2025-11-25",
  });
});

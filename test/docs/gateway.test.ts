import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { freePort } from "manyhands/internal/http/free-port";
import type { ScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type AgentServer, startAgent, startServer } from "../servers/manus-server.ts";
import { startGuideModel } from "./guide-model.ts";
import { type Block, blocksOf, codesIn, readGuide, rowsOf } from "./markdown.ts";
import { curl, run } from "./run-example.ts";
import { shows } from "./shows.ts";

const token = "long-enough";
const guide = await readGuide("gateway.md");
const blocks = blocksOf(guide);

let model: ScriptedModel;
let folder: string;
const servers: AgentServer[] = [];

async function started(name: string, start: typeof startAgent, env: Record<string, string>): Promise<AgentServer> {
  const home = await mkdtemp(join(folder, `${name}-`));
  await chmod(home, 0o711);
  const ofModel = { OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted" };
  const server = start(name, { ...env, ...ofModel, MANYHANDS_HOME: home, PORT: `${freePort()}` });
  servers.push(server);
  await server.ready;
  return server;
}

const startGateway: typeof startAgent = (_, env) => startServer("gateway/src/server/main.ts", env);

let manus: AgentServer;
let open: AgentServer;
let guarded: AgentServer;
beforeAll(async () => {
  model = await startGuideModel();
  folder = await mkdtemp(join(tmpdir(), "manyhands-docs-"));
  await chmod(folder, 0o711);
  manus = await started("manus", startAgent, {});
  [open, guarded] = await Promise.all([
    started("open", startGateway, { MANUS_URL: manus.url }),
    started("guarded", startGateway, { MANYHANDS_TOKEN: token }),
  ]);
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await model.close();
  await rm(folder, { recursive: true });
});

/** An example as printed, with our servers in place of those at its ports. */
function against({ text }: Block): string {
  const { host } = new URL((text.includes("Bearer") ? guarded : open).url);
  return text.replaceAll("localhost:4100", host).replaceAll("localhost:4101", new URL(manus.url).host);
}

test("every shell example gives the output the guide shows", async () => {
  const examples = blocks.flatMap((block, index) =>
    block.language === "sh" ? [[block, blocks[index + 1]] as const] : [],
  );
  expect(examples.length).toBeGreaterThan(7);
  let last = "";
  for (const [example, shown] of examples) {
    const out = await run(["bash", "-e"], curl + against(example), { RUN: last });
    if (!shows(shown?.text ?? "", out)) throw new Error(`gateway.md, line ${example.line} answers:\n${out}`);
    last = /^\{(?:"runId":"[^"]+",)?"id":"([^"]+)"/.exec(out)?.[1] ?? last;
  }
});

test("the TypeScript examples run as printed", async () => {
  const examples = blocks.filter(({ language }) => language === "ts");
  expect(examples).toHaveLength(2);
  for (const example of examples)
    expect(await run([process.execPath, "-"], against(example), {})).toContain("There are 168 primes below 1000.");
});

test("the settings for MCP clients have the address at which a stock client finds the tools", async () => {
  const settings = blocks.find(({ text }) => text.includes("mcpServers"));
  if (settings === undefined) throw new Error("there are none");
  const { url } = JSON.parse(against(settings)).mcpServers.manyhands;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["sequential", "manus", "run_status", "run_answer", "run_cancel"]),
  );
  await client.close();
});

test("the tables name every operation and every status", async () => {
  const document = JSON.parse(await (await fetch(`${open.url}/openapi.json`)).text());
  const operations = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const statuses: string[] = document.components.schemas.Run.properties.status.enum;
  const first = rowsOf(guide).flatMap(([cell]) => codesIn(cell));
  expect(first.toSorted()).toEqual([...operations, ...statuses].toSorted());
});

test("the console is served, for people", async () => {
  const page = await fetch(open.url);
  expect([page.status, page.headers.get("Content-Type")]).toEqual([200, expect.stringContaining("text/html")]);
});

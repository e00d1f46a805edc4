import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createA2aClient } from "manyhands/a2a";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/testing";
import { stockClient } from "../mcp/served-agent.ts";
import { startReady } from "../servers/ready-process.ts";

const root = resolve(import.meta.dir, "../..");

/** An agent with a custom tool, as somebody outside this repository writes it. */
const concierge = `import { defineAgent, defineTool, serveAgent } from "manyhands";
import { askHuman, files } from "manyhands/tools";
import * as z from "zod";

const weather = defineTool({
  name: "weather", description: "Today's weather in a city.", input: z.strictObject({ city: z.string() }), effect: "pure",
  run: async ({ city }, { fetch }) => (await fetch(\`https://weather.example/\${city}\`)).text(),
});
await serveAgent(defineAgent({ name: "concierge", description: "Plans a day out.", instructions: "Check the weather first.", tools: [weather, files(), askHuman()] }));
`;

const everyEntry = ["", "/tools", "/flows", "/a2a", "/mcp", "/durable", "/models", "/testing"];

let folder: string;
let project: string;
let model: ScriptedModel;
let env: Record<string, string>;

const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
/** Whether the package registry is reachable: uncached packages are fetched. */
const isReachable =
  (await Bun.spawn([process.execPath, "info", "zod", "version"], { ...quiet, timeout: 10_000 }).exited) === 0;
const node = Bun.which("node");
if (!isReachable || node === null) console.warn("The package is not tried: it needs Node and a package registry.");
const packaged = test.skipIf(!isReachable || node === null);

async function ended(
  command: readonly string[],
  cwd: string,
  { typed = "", ...more }: Readonly<Record<string, string>> = {},
) {
  const stdin = new Blob([typed]);
  const options = { cwd, env: { ...env, ...more }, stdin, stdout: "pipe", stderr: "pipe" } as const;
  const child = Bun.spawn([...command], { ...options, timeout: 300_000 });
  const [out, said] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, out, said };
}

/** The installed command, as Node starts it. */
function manyhands(cwd: string, ...args: readonly string[]) {
  return ended([node ?? "", join(project, "node_modules/.bin/manyhands"), ...args], cwd);
}

async function emptyFolder(name: string): Promise<string> {
  await mkdir(join(folder, name));
  return join(folder, name);
}

beforeAll(async () => {
  if (!isReachable || node === null) return;
  folder = await mkdtemp(join(tmpdir(), "manyhands-package-"));
  project = join(folder, "my-team");
  model = await startScriptedModel(({ messages }) => {
    const last = messages.at(-1);
    const isFirst = last?.role === "user" && !JSON.stringify(last).includes("wrong with it");
    if (!isFirst) return { text: "Go to the Tile Museum." };
    return { calls: [{ name: "weather", args: { city: "Lisbon" } }] };
  });
  env = {
    PATH: process.env.PATH ?? "",
    HOME: process.env.HOME ?? "",
    NO_COLOR: "1",
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(npm_config|bun_install)_/i.test(name))),
  } as Record<string, string>;
  const packed = await ended([process.execPath, join(root, "gateway/pack/pack.ts"), folder], root);
  expect([packed.exitCode, packed.said]).toEqual([0, ""]);
  await new Bun.Archive(await Bun.file(join(folder, "create-manyhands.tgz")).bytes()).extract(join(folder, "creator"));
  const created = await ended([node, join(folder, "creator/package/create.js"), "my-team"], folder);
  expect([created.exitCode, created.said]).toEqual([0, ""]);
  const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8"));
  manifest.dependencies.manyhands = `file:${join(folder, "manyhands.tgz")}`;
  await writeFile(join(project, "package.json"), JSON.stringify(manifest));
  const installed = await ended([process.execPath, "install", "--no-save"], project);
  expect([installed.exitCode, installed.said]).toEqual([0, expect.any(String)]);
});

afterAll(async () => {
  await model?.close();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

packaged("the package has the public entries and no others, and depends on nothing of the workspace", async () => {
  const manifest = JSON.parse(await readFile(join(project, "node_modules/manyhands/package.json"), "utf8"));
  const entries = Object.keys(manifest.exports).filter((name) => name !== "./package.json");
  expect(entries).toEqual(everyEntry.map((name) => `.${name}`));
  expect(Object.values<string>(manifest.dependencies).filter((asked) => !/^\^?\d/.test(asked))).toEqual([]);
  const inside = `await import("manyhands/internal/core/errors")`;
  const refused = await ended([process.execPath, "-e", inside], project);
  expect(refused.said).toContain("Cannot find module");
});

packaged(
  "an agent as a stranger writes it type-checks against every entry, whichever way modules are resolved",
  async () => {
    const entries = everyEntry.map((name, at) => `export * as e${at} from "manyhands${name}";`).join("\n");
    await writeFile(join(project, "concierge.ts"), concierge);
    await writeFile(join(project, "entries.ts"), entries);
    const compiler = [process.execPath, join(project, "node_modules/typescript/bin/tsc"), "--ignoreConfig"];
    const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "esnext", "--checkers", "1"];
    const checked = ["preserve bundler true", "nodenext nodenext false"].map((how) => {
      const [modules = "", resolution = "", skipping = ""] = how.split(" ");
      const kinds = ["--module", modules, "--moduleResolution", resolution, "--skipLibCheck", skipping];
      return ended([...compiler, ...options, ...kinds, "concierge.ts", "entries.ts"], project);
    });
    for (const { exitCode, out } of await Promise.all(checked)) expect([exitCode, out]).toEqual([0, ""]);
  },
);

packaged("that agent runs as a server of its own", async () => {
  await writeFile(join(project, "concierge.ts"), concierge);
  const settings = { PORT: "0", OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted", HOME: env.HOME ?? "" };
  await using server = await serving(["concierge.ts"], settings);
  const client = await createA2aClient(server.url);
  const updates = client.stream({ text: "Plan a day in Lisbon." });
  expect(JSON.stringify(await Array.fromAsync(updates))).toContain("Go to the Tile Museum.");
  const asked = JSON.stringify(model.requests.at(-1)?.body);
  expect(asked).toContain("Check the weather first.");
  expect(asked).toContain("weather.example");
});

/** A module of the project as a process, until the block ends. */
async function serving(args: readonly string[], settings: Readonly<Record<string, string>>) {
  const server = await startReady([process.execPath, ...args], { cwd: project, env: settings });
  return { url: server.url, [Symbol.asyncDispose]: async () => void (await server.stop()) };
}

packaged("the demo ends well in an empty folder, and its home is there", async () => {
  const empty = await emptyFolder("empty");
  const bin = join(project, "node_modules/.bin/manyhands");
  const demo = await ended([node ?? "", bin, "demo"], empty, ownPorts());
  expect([demo.exitCode, demo.out]).toEqual([0, expect.stringContaining("✓ all 16 figures of the report are right")]);
  expect(await Bun.file(join(empty, ".manyhands/runs.db")).exists()).toBe(true);
});

packaged("the command says its version, completes words and passes exit codes on", async () => {
  const empty = await emptyFolder("commands");
  expect(await manyhands(empty, "--version")).toEqual({ exitCode: 0, out: "0.1.0\n", said: "" });
  expect((await manyhands(empty, "completion", "bash")).out).toContain("complete -o default -F _manyhands manyhands");
  const wrong = await manyhands(empty, "rnu");
  expect([wrong.exitCode, wrong.said]).toEqual([2, expect.stringContaining("Did you mean run?")]);
  expect((await manyhands(empty, "init", "--yes")).exitCode).toBe(0);
  const unset = await manyhands(empty, "run", "x");
  expect(unset).toEqual({
    exitCode: 2,
    out: "",
    said: "manyhands.toml, line 3: [llm] api_key_env names OPENAI_API_KEY, which is not set. Set it to the key of the model's provider.\n",
  });
});

/**
 * What the command needs to use the scripted model, and agents of its own whatever runs beside it.
 */
function ownSystem(): Record<string, string> {
  return { ...ownPorts(), OPENAI_BASE_URL: model.url, MANYHANDS_MODEL: "scripted" };
}

function ownPorts(): Record<string, string> {
  const names = ["GATEWAY_PORT", "MANUS_PORT", "BROWSER_PORT", "SWE_PORT", "DATA_ANALYSIS_PORT", "CONCIERGE_PORT"];
  return Object.fromEntries(names.map((name) => [name, `${freePort()}`]));
}

packaged("in an empty folder one can chat, and is told what set-up does", async () => {
  const empty = await emptyFolder("chatting");
  const bin = join(project, "node_modules/.bin/manyhands");
  const typed = "What is wrong with it?\n/exit\n";
  const chat = await ended([node ?? "", bin, "chat"], empty, { ...ownSystem(), typed });
  expect([chat.exitCode, chat.said + chat.out]).toEqual([0, expect.stringContaining("Go to the Tile Museum.")]);
  expect(chat.said).toContain("Continue this conversation with: npx manyhands chat --context ");
  const help = await ended([node ?? "", bin, "setup", "--help"], empty);
  expect([help.exitCode, help.out]).toEqual([0, expect.stringContaining("Installs what is missing")]);
});

packaged("an agent of the project is an MCP server, by the command and by itself, with its own tool", async () => {
  await writeFile(join(project, "concierge.ts"), concierge);
  const settings = { ...env, ...ownSystem() };
  const bin = join(project, "node_modules/.bin/manyhands");
  for (const [command, ...args] of [
    [node ?? "", bin, "mcp", "serve", "--agent", "concierge"],
    [process.execPath, "concierge.ts", "--mcp-stdio"],
  ]) {
    const client = stockClient({ mode: "auto" });
    const transport = new StdioClientTransport({ command: command ?? "", args, cwd: project, env: settings });
    try {
      await client.connect(transport);
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain("concierge");
      if (args.includes("--mcp-stdio")) expect(names).toContain("weather");
      const done = await client.callTool({ name: "concierge", arguments: { task: "What is wrong with it?" } });
      expect(JSON.stringify(done.content)).toContain("Go to the Tile Museum.");
    } finally {
      await client.close();
    }
  }
});

packaged("the template type-checks, and its own test passes", async () => {
  const [types, tests] = await Promise.all([
    ended([process.execPath, "run", "check"], project),
    ended([process.execPath, "run", "test"], project),
  ]);
  expect([types.exitCode, types.out]).toEqual([0, ""]);
  expect([tests.exitCode, tests.said]).toEqual([0, expect.stringContaining(" 2 pass\n 0 fail\n")]);
});

packaged(
  "`start` in the template's project serves its agent, with the tools of its MCP server, and its flow; a signal drains all of it",
  async () => {
    const own = ownSystem();
    const child = Bun.spawn([node ?? "", join(project, "node_modules/.bin/manyhands"), "start"], {
      cwd: project,
      env: { ...env, ...own },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const gateway = `http://127.0.0.1:${own.GATEWAY_PORT}`;
    try {
      expect(await saidUntil(child.stderr, "\nUp. ")).toContain("  concierge  ");
      const response = await fetch(`${gateway}/flows/second-opinion`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Prefer: "wait=60" },
        body: JSON.stringify({ input: "Plan a day in Lisbon." }),
      });
      const done = JSON.stringify(await response.json());
      expect(done).toContain("Go to the Tile Museum.\\n\\nA second opinion:\\nGo to the Tile Museum.");
      const ofConcierge = model.requests.find(({ body }) => JSON.stringify(body).includes("You plan days out."));
      expect(ofConcierge?.body.tools?.map((tool) => tool.function.name)).toContain("places__find_places");
    } finally {
      child.kill("SIGTERM");
    }
    expect(await child.exited).toBe(0);
    expect(await fetch(gateway).catch(() => "gone")).toBe("gone");
  },
);

/** A process's output up to this text, or up to its end. */
async function saidUntil(stream: ReadableStream<Uint8Array>, awaited: string): Promise<string> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of stream) {
    said += decoder.decode(chunk, { stream: true });
    if (said.includes(awaited)) return said;
  }
  throw new Error(`It ended before it said ${awaited}:\n${said}`);
}

packaged("a project is not made in a folder that has something in it, or without a name", async () => {
  const create = join(folder, "creator/package/create.js");
  const again = await ended([node ?? "", create, "my-team"], folder);
  expect(again).toMatchObject({ exitCode: 2, out: "" });
  expect(again.said).toBe(`${project} is not empty, and stays as it is. Give the name of a new folder.\n`);
  expect((await ended([node ?? "", create], folder)).exitCode).toBe(2);
});

/**
 * The client under test, as a program: uses the server that `client.fixture.ts` names, as an agent
 * would, and answers with its log. Prints where it listens.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import { createKeyedQueue } from "manyhands/internal/core/async/keyed-queue";
import type { Tool } from "manyhands/internal/core/tools/tool";
import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { openWorkspace } from "manyhands/internal/machine/workspace/open-workspace";
import { openMcp } from "manyhands/internal/server/protocols/open-mcp";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import * as z from "zod";
import { contextForTest } from "../../../shared/src/testing/tool-context.ts";

const request = z.strictObject({ url: z.string(), scenario: z.string(), context: z.string() });
const offered = z.looseObject({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  toolCalls: z.array(z.looseObject({ name: z.string(), arguments: z.looseObject({}) })).optional(),
});

/** The suite asks for all its servers at once, which would take each past its time. */
const atOnce = 4;
const inTurn = createKeyedQueue();
let asks = 0;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(asked) {
    const log: string[] = [];
    try {
      const told = request.parse(await asked.json());
      await inTurn(`${asks++ % atOnce}`, () => useServer(told, (...said) => log.push(said.map(text).join(" "))));
      return new Response(log.join("\n"));
    } catch (error) {
      return new Response([...log, text(error)].join("\n"), { status: 500 });
    }
  },
});
console.log(`ready ${server.url.origin}`);

function text(said: unknown): string {
  return typeof said === "string" ? said : Bun.inspect(said);
}

type Report = (...said: readonly unknown[]) => void;

/**
 * Uses a server as an agent does: mounts it in a home of its own, calls every tool once, and
 * answers its questions.
 */
async function useServer({ url, scenario, context }: z.infer<typeof request>, report: Report): Promise<void> {
  const given = offered.parse(JSON.parse(context));
  /** Where the suite expects its client's metadata. */
  const metadata = scenario === "auth/basic-cimd" && "https://conformance-test.local/client-metadata.json";
  const oauth = {
    ...(metadata && { clientId: metadata }),
    ...(given.client_id && { clientId: given.client_id, clientSecret: given.client_secret }),
  };
  /** Every option is switched on. */
  const entry = { url, oauth, resources: true, prompts: true, sampling: true };

  const home = await mkdtemp(join(tmpdir(), "manyhands-conformance-"));
  await writeFile(join(home, "mcp.json"), JSON.stringify({ mcpServers: { t: entry } }));
  // The suite's servers are all on this machine.
  const env = {
    MANYHANDS_HOME: home,
    MANYHANDS_EGRESS_ALLOW: "localhost,127.0.0.1",
    MANYHANDS_MCP_START_SECONDS: "60",
  };
  const sandbox = await createSandbox({ mode: "off", folder: join(home, "mcp") });
  const logger = { info: () => undefined, warn: report };
  const config = await loadConfig({ cwd: home, env });
  const mcp = await openMcp(config, { sandbox, logger, shared: await openShared(config), env: {} });
  const { signal } = new AbortController();
  const workspace = await openWorkspace({ home, principal: "local", contextId: "c" });

  /** The inputs for a tool: those of the scenario, otherwise ones that fit the tool. */
  function inputsOf(name: string, schemas: ReadonlyMap<string, unknown>): readonly object[] {
    const said = given.toolCalls?.filter((call) => `t__${call.name}` === name).map((call) => call.arguments) ?? [];
    if (said.length > 0) return said;
    // The suite's schema tool expects another tool's schema back.
    if (name === "t__json_schema_echo") return [{ schema: schemas.get("t__json_schema_2020_12_tool") }];
    return [name.includes("add") ? { a: 1, b: 2 } : {}];
  }

  /** Signs in as a person does: the browser follows the given address. */
  const signIn = () => mcp.login("t", (address) => void fetch(address), signal);

  async function call(tool: Tool, input: object): Promise<void> {
    let result = await tool.call(input, contextForTest(workspace));
    if (result.asks !== undefined) {
      const answer = { text: "yes", state: result.asks.state };
      result = await tool.call(input, contextForTest(workspace, { answer }));
    }
    report(tool.name, result.text);
    if (!result.isError || !result.text.includes("mcp login t")) return;
    await signIn();
    report(tool.name, (await tool.call(input, contextForTest(workspace))).text);
  }

  /** Reads the first item that a tool lists. */
  async function readOne(tools: readonly Tool[], name: string, listed: RegExp, key: string): Promise<void> {
    const tool = tools.find((one) => one.name === name);
    const list = await tool?.call({}, contextForTest(workspace));
    const [, first] = listed.exec(list?.text ?? "") ?? [];
    if (tool !== undefined && first !== undefined) await call(tool, { [key]: first });
  }

  async function use(): Promise<void> {
    const mounted = mcp.mount("all");
    let { tools } = await mounted.list("local", signal);
    if (mcp.health().servers[0]?.error?.includes("mcp login t")) {
      await signIn();
      ({ tools } = await mounted.list("local", signal));
    }
    const schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]));
    report(schemas, mcp.health());
    for (const tool of tools) for (const input of inputsOf(tool.name, schemas)) await call(tool, input);
    await readOne(tools, "t__mcp_read_resource", /^- (\S+?)(?:: |$)/m, "uri");
    await readOne(tools, "t__mcp_get_prompt", /^- (\S+)\(/m, "name");
  }

  try {
    if (scenario.startsWith("auth/")) await signIn();
    await use();
  } finally {
    await mcp.close();
    await sandbox.close();
    await rm(home, { recursive: true, force: true });
  }
}

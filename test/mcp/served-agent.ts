import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  type ModelScript,
  type ScriptedModel,
  startScriptedModel,
} from "manyhands/internal/testing/models/scripted-model";
import { type ReadyProcess, startReady } from "../servers/ready-process.ts";

/** An agent's process that is also an MCP server. */
export type ServedAgent = AsyncDisposable & {
  readonly url: string;
  readonly home: string;
  readonly model: ScriptedModel;
  readonly process: ReadyProcess;
};

/**
 * Starts Manus with these keys in its table. Its model answers every task with "done", unless
 * scripted otherwise.
 */
export async function startServedAgent(
  keys: string,
  env: Record<string, string> = {},
  script: ModelScript = () => ({ text: "done" }),
): Promise<ServedAgent> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-mcp-serve-"));
  await writeFile(join(home, "manyhands.toml"), `[agents.manus]\n${keys}\n`);
  const model = await startScriptedModel(script);
  const entry = resolve(import.meta.dir, "../../agents/manus/src/server.ts");
  const process_ = await startReady([process.execPath, entry], {
    cwd: home,
    env: { ...modelEnv(model, home), ...env },
  });
  return {
    url: process_.url,
    home,
    model,
    process: process_,
    async [Symbol.asyncDispose]() {
      await process_.stop();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The environment that points an agent's process at a scripted model. */
export function modelEnv(model: ScriptedModel, home: string): Record<string, string> {
  return {
    PORT: "0",
    MANYHANDS_HOME: home,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
  };
}

/** The properties of a stock client: the revisions it speaks, a person's answers, and headers. */
export type Bringing = {
  readonly mode: "auto" | "legacy";
  readonly allow?: boolean;
  readonly headers?: Record<string, string>;
};

/** A stock client, not connected. */
export function stockClient({ mode, allow }: Bringing): Client {
  const capabilities = allow === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  if (allow !== undefined)
    client.setRequestHandler("elicitation/create", () => ({ action: "accept" as const, content: { allow } }));
  return client;
}

/** A stock client at an agent's `/mcp`. */
export async function connectTo(url: string, bringing: Bringing): Promise<Client> {
  const client = stockClient(bringing);
  const { headers = {} } = bringing;
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** The first text of a result. */
export function resultText(result: { content?: unknown }): string | undefined {
  return (result.content as { text?: string }[])[0]?.text;
}

/** Whether a process of this machine was started with these words. */
export async function runs(words: string): Promise<boolean> {
  const asked = Bun.spawn(["pgrep", "-fx", words], { stdout: "ignore" });
  return (await asked.exited) === 0;
}

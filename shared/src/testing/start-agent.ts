import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModelScript, type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

/** An agent's server that a test started, and the scripted model that it asks. */
export type StartedAgent = AsyncDisposable & {
  readonly url: string;
  readonly model: ScriptedModel;
};

/**
 * Starts the module that serves an agent as `manyhands start` does: a process of its own, on a free
 * port, in a new home. Its model is a scripted one. The process sees nothing of the test's
 * environment but PATH and what `env` adds. It ends with `await using`. Rejects with the process's
 * last words when it ends before it listens.
 */
export async function startAgentForTest(
  entry: string,
  {
    script,
    env = {},
  }: {
    readonly script: ModelScript;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<StartedAgent> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-agent-"));
  // The sandbox's user has to get to the workspaces below.
  await chmod(home, 0o711);
  const model = await startScriptedModel(script);
  const child = Bun.spawn([process.execPath, entry], {
    cwd: home,
    env: {
      PATH: process.env.PATH ?? "",
      MANYHANDS_HOME: home,
      OPENAI_BASE_URL: model.url,
      MANYHANDS_MODEL: "scripted",
      PORT: "0",
      ...env,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stop = async () => {
    child.kill();
    await child.exited;
    await model.close();
    await rm(home, { recursive: true, force: true });
  };
  const log = new Response(child.stderr).text();
  const url = await readyAddress(child.stdout);
  if (url === undefined) {
    await stop();
    throw new Error(`${entry} ended before it was ready: ${await log}`);
  }
  return { url, model, [Symbol.asyncDispose]: stop };
}

/** What a server prints as `ready URL`; undefined when its output ends without. */
async function readyAddress(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let printed = "";
  for await (const chunk of output) {
    printed += decoder.decode(chunk, { stream: true });
    const url = /ready (http\S+?)\/?\n/.exec(printed)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

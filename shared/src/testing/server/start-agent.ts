import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../machine/bare-environment.ts";
import { type ModelScript, type ScriptedModel, startScriptedModel } from "../models/scripted-model.ts";

/** An agent's server under test, and its scripted model. */
export type StartedAgent = AsyncDisposable & {
  readonly url: string;
  readonly model: ScriptedModel;
};

/**
 * Starts an agent's module as `manyhands start` does: as a process with a new home, on a free port,
 * with a scripted model. Of the test's environment it sees only PATH and what `env` adds.
 * `await using` ends it. Rejects with the process's output if it ends before it listens.
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
  // The sandbox's user must reach the workspaces below.
  await chmod(home, 0o711);
  const model = await startScriptedModel(script);
  const child = Bun.spawn([process.execPath, entry], {
    cwd: home,
    env: {
      ...bareEnvironment(),
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
    const said = await log;
    // A module that only exports its agent ends at once.
    if (said === "") throw new Error(`${entry} ended without serving its agent: it has to call serveAgent.`);
    throw new Error(`${entry} ended before it was ready: ${said}`);
  }
  return { url, model, [Symbol.asyncDispose]: stop };
}

/** The address in `ready URL`; undefined if the output ends without it. */
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

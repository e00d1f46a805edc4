import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import type { ScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { rpc, type Wire } from "../a2a/rpc.ts";
import { type AgentServer, startAgent } from "../servers/manus-server.ts";

/** An agent as users start it, with a model that obeys, and the questions its person was asked. */
export type AttackedAgent = AsyncDisposable & {
  readonly server: AgentServer;
  readonly url: string;
  /**
   * Gives it a task and answers every question until it ends; returns the questions and the task.
   */
  task(parts: readonly object[], options?: TaskOptions): Promise<{ asked: string[]; task: Wire }>;
  /** Kills it with kill -9 and restarts it on the same home. */
  kill(): Promise<void>;
};

type TaskOptions = {
  readonly contextId?: string;
  readonly metadata?: object;
  readonly answer?: (question: string) => string;
};

/** Starts one with `env` in its environment. */
export async function startAttackedAgent(
  name: string,
  model: ScriptedModel,
  env: Record<string, string> = {},
  prepare: (home: string) => Promise<unknown> = async () => undefined,
): Promise<AttackedAgent> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-attack-"));
  await chmod(home, 0o711);
  await prepare(home);
  const full = {
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    ...env,
  };
  let server = startAgent(name, full);
  await server.ready;
  const send = async (message: object, metadata?: object): Promise<Wire> => {
    const sent = { messageId: crypto.randomUUID(), role: "ROLE_USER", ...message };
    const { body } = await rpc(server.url, "SendMessage", { message: sent, ...(metadata && { metadata }) });
    if (body.result?.task === undefined) throw new Error(JSON.stringify(body));
    return body.result.task;
  };
  return {
    get server() {
      return server;
    },
    url: server.url,
    async task(parts, { contextId, metadata, answer = () => "no" } = {}) {
      const asked: string[] = [];
      let task = await send({ parts, ...(contextId !== undefined && { contextId }) }, metadata);
      while (task.status.state === "TASK_STATE_INPUT_REQUIRED") {
        const question = task.status.message?.parts.map(({ text }: { text: string }) => text).join("") ?? "";
        asked.push(question);
        const ids = { taskId: task.id, contextId: task.contextId };
        task = await send({ ...ids, parts: [{ text: answer(question) }] });
      }
      return { asked, task };
    },
    async kill() {
      await server.stop("SIGKILL");
      server = startAgent(name, full);
      await server.ready;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** The sentence of a question, without the call. */
export function sentenceOf(question: string): string {
  return question.split("\n").find((line, index) => index > 0 && line !== "") ?? question;
}

/** The answer that allows what a question asks. */
export function yes(question: string): string {
  return /"(yes \w+)"/.exec(question)?.[1] ?? "no code";
}

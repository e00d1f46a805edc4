import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type A2aClient, createA2aClient } from "manyhands/internal/a2a/client/client";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

/** A call that an attacker makes the model perform. */
export type Attack = { readonly name: string; readonly args: Record<string, unknown> };

/**
 * Manus as a process, with a model that does whatever a task's attacks say, one per turn, and then
 * ends.
 */
export type Attacked = {
  readonly home: string;
  readonly manus: AgentServer;
  readonly model: ScriptedModel;
  readonly client: A2aClient;
  /**
   * Makes the calls in a task of this conversation and returns their results as the model read
   * them.
   */
  obey(contextId: string, attacks: readonly Attack[]): Promise<string[]>;
  /** The server's resident memory now, in bytes. */
  memory(): Promise<number>;
  close(): Promise<void>;
};

/** Starts both. `env` goes into the server's environment. */
export async function startAttacked(env: Record<string, string> = {}): Promise<Attacked> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-attack-"));
  await chmod(home, 0o711);
  const orders = new Map<string, readonly Attack[]>();
  const model = await startScriptedModel(({ messages }) => {
    const begin = messages.findLastIndex(({ role, content }) => role === "user" && orders.has(wordOf(content)));
    const attacks = orders.get(wordOf(messages[begin]?.content)) ?? [];
    const done = messages.slice(begin).filter(({ role }) => role === "tool").length;
    const next = attacks[done];
    return { calls: [next ?? { name: "terminate", args: { status: "success", summary: "Obeyed." } }] };
  });
  const manus = startManus({
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
    ...env,
  });
  await manus.ready;
  const client = await createA2aClient(manus.url, { idleMs: 60_000, responseMs: 60_000 });
  return {
    home,
    manus,
    model,
    client,
    async obey(contextId, attacks) {
      const order = `order-${crypto.randomUUID()}`;
      orders.set(order, attacks);
      await client.send({ text: order, contextId });
      const last = model.requests.findLast(({ body }) =>
        body.messages.some(({ content }) => wordOf(content) === order),
      );
      const messages = last?.body.messages ?? [];
      const begin = messages.findLastIndex(({ content }) => wordOf(content) === order);
      return messages.slice(begin).flatMap(({ role, content }) => (role === "tool" ? [String(content)] : []));
    },
    async memory() {
      const status = await readFile(`/proc/${manus.pid}/status`, "utf8");
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
    },
    async close() {
      await manus.stop();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

function wordOf(content: unknown): string {
  return /order-[\da-f-]{36}/.exec(JSON.stringify(content ?? ""))?.[0] ?? "";
}

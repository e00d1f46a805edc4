/**
 * Mastra: its A2AAgent, which goes on with a task that asks but not with a context, and an agent
 * behind its server.
 */
import { load, run } from "./peer-script.ts";

async function client(url: string) {
  const { A2AAgent } = await load("@mastra/core/a2a");
  const agent = new A2AAgent({ url });
  let asked: string | undefined;
  return async (text: string) => {
    const runId = crypto.randomUUID();
    const result = await (asked === undefined
      ? agent.generate(text, { runId })
      : agent.resumeGenerate(text, { runId: asked }));
    asked = result.finishReason === "suspended" ? result.runId : undefined;
    return result.text;
  };
}

async function server() {
  const { Mastra } = await load("@mastra/core/mastra");
  const { Agent } = await load("@mastra/core/agent");
  const { MastraServer } = await load("@mastra/hono");
  const { InMemoryTaskStore } = await load("@mastra/server/a2a/store");
  const { Hono } = await load("hono");
  const model = { id: "scripted/scripted", url: process.env.OPENAI_BASE_URL, apiKey: "none" };
  const echo = new Agent({ id: "echo", name: "Mastra", description: "Echoes.", instructions: "Echo.", model });
  const app = new Hono();
  const mastra = new Mastra({ agents: { echo }, logger: false });
  await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();
  const { url } = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: app.fetch });
  return `${url.origin}/api/.well-known/echo/agent-card.json`;
}

await run(client, server);

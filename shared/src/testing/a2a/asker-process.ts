import { join } from "node:path";
import * as z from "zod";
import type { AskRequest } from "../../a2a/ask/ask.ts";
import { askAgent } from "../../a2a/ask/ask-agent.ts";
import { cancelChildrenRun, cancellingChildren, engineCancellingChildren } from "../../a2a/ask/cancel-children.ts";
import { createPeers } from "../../a2a/ask/peers.ts";
import type { Json } from "../../core/json.ts";
import { messageSignal } from "../../core/message.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import { crashPointText } from "../../durable/sqlite/disk/crash-point.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";

/**
 * Settings of a process that asks. `plain`: it asks once. `cancel`: it also cancels the run as soon
 * as the agent has the message. `questions`: it asks two at the same time, and answers each
 * question with "for" and the question's first word. `messages`: it sends on "Stop." while the
 * agent works.
 */
export const askerSettings = z.strictObject({
  home: z.string(),
  url: z.string(),
  mode: z.enum(["plain", "cancel", "questions", "messages"]),
  crashAt: crashPointText.optional(),
});

/** Executes all runs in `home`, and exits once they have ended. */
async function main({ home, url, mode, crashAt }: z.output<typeof askerSettings>): Promise<void> {
  const own = createEmbeddedEngine({ path: join(home, "runs.db"), ...(crashAt && { crashAt }) });
  const peers = createPeers({ engine: own, artifacts: createArtifactStore(join(home, "artifacts")) });
  const agent = { name: "helper", url };
  const request = (text: string): AskRequest => ({ agent, parts: [{ type: "text", text }], hops: 0 });
  const body = (run: Run): Promise<unknown> =>
    mode === "questions"
      ? run.all(["one", "two"].map((text) => (branch: Run) => askAgent(branch, request(text), peers)))
      : askAgent(run, { ...request("Do it."), ...(mode === "messages" && { passedOn: () => undefined }) }, peers);
  const asker = { kind: "asker", execute: async (run: Run) => (await body(run)) as Json };
  own.work([cancellingChildren(asker, peers), cancelChildrenRun("asker", peers)]);
  const engine = engineCancellingChildren(own, "asker");
  for (;;) {
    const { runs } = await engine.list({ statuses: ["queued", "running", "waiting"], limit: 10 });
    if (runs.length === 0) break;
    for (const { id, kind } of runs) {
      if (kind !== "asker") continue;
      const events = (await engine.events(id)).map(({ event }) => event);
      if (mode === "cancel" && events.some(({ type }) => type === "agent-accepted")) await engine.cancel(id);
      if (mode === "questions") await answer(engine, id, events);
      if (mode === "messages" && events.some(({ type }) => type === "agent-accepted")) await say(engine, id, "Stop.");
    }
    await Bun.sleep(5);
  }
  await own.close({ graceMs: 100 });
}

/** Answers the newest question if it is open. */
async function answer(engine: Engine, id: string, events: readonly RunEvent[]): Promise<void> {
  const asked = events.filter(({ type }) => type === "question-asked");
  if (asked.length <= events.filter(({ type }) => type === "message-heard").length) return;
  const word = /\n(\w+)\?/.exec(String(asked.at(-1)?.question))?.[1] ?? "";
  await say(engine, id, `for ${word}`, `answer-${asked.length}`);
}

async function say(engine: Engine, id: string, text: string, messageId = text): Promise<void> {
  const message = { messageId, parts: [{ type: "text", text }] };
  await engine.deliver(id, messageSignal, message, { id: messageId });
}

if (import.meta.main) await main(askerSettings.parse(JSON.parse(process.argv[2] ?? "{}")));

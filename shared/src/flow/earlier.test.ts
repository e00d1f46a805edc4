import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Run } from "../core/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { earlierTasks } from "./earlier.ts";

const home = await mkdtemp(join(tmpdir(), "manyhands-earlier-"));
afterAll(() => rm(home, { recursive: true }));

test("a flow reads its own earlier tasks of the conversation, and never another principal's or another flow's", async () => {
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  engine.work(
    ["talk", "other"].map((kind) => ({
      kind,
      execute: async (run: Run) => {
        run.emit({ type: "artifact-added", artifactId: "f", name: "f", parts: [], takenIn: [run.principal] });
        return { answer: `told ${run.principal}` };
      },
    })),
  );
  const ended = async (kind: string, principal: string, contextId: string) => {
    const message = { messageId: "m", parts: [{ type: "text", text: `${kind} of ${principal} in ${contextId}` }] };
    const { run } = await engine.start({ kind, input: { message, hops: 0 }, principal, contextId });
    for await (const item of engine.follow(run.id, { signal: AbortSignal.timeout(30_000) }))
      if (item.kind === "event" && item.event.type === "run-ended") return;
    throw new Error(`${run.id} did not end.`);
  };
  try {
    await ended("talk", "alice", "c1");
    await ended("other", "alice", "c1");
    await ended("talk", "alice", "c2");
    await ended("talk", "bob", "c1");
    const { text, takenIn } = await earlierTasks({ principal: "alice", contextId: "c1" } as Run, "talk", engine);
    expect(text).toBe("Asked: talk of alice in c1\nAnswered: told alice");
    expect(takenIn).toEqual(["alice"]);
  } finally {
    await engine.close();
  }
});

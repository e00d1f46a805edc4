import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Part } from "../core/message.ts";
import type { Engine, ListFilter, RunRecord } from "../core/runs/engine.ts";
import type { Run, RunEvent } from "../core/runs/run.ts";
import { createEmbeddedEngine } from "../durable/sqlite/embedded-engine.ts";
import { earlierFlowTasks } from "./earlier.ts";

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
    const { text, takenIn } = await earlierFlowTasks({ principal: "alice", contextId: "c1" } as Run, "talk", engine);
    expect(text).toBe("Asked: talk of alice in c1\nAnswered: told alice");
    expect(takenIn).toEqual(["alice"]);
  } finally {
    await engine.close();
  }
});

/**
 * What a flow reads of earlier tasks, newest first: their question, answer, and what they handed
 * over.
 */
async function read(...tasks: readonly { asked: string; answered?: string; events?: readonly RunEvent[] }[]) {
  const filters: ListFilter[] = [];
  const runs = tasks.map(({ asked, answered = "yes" }, at) => {
    const message = { messageId: "m", parts: [{ type: "text", text: asked }] };
    return { id: String(at), input: { message, hops: 0 }, output: { answer: answered } } as unknown as RunRecord;
  });
  const engine = {
    list: async (filter: ListFilter) => {
      filters.push(filter);
      return { runs, total: runs.length };
    },
    events: async (id: string) => (tasks[Number(id)]?.events ?? []).map((event) => ({ event })),
  } as unknown as Pick<Engine, "list" | "events">;
  const earlier = await earlierFlowTasks({ principal: "alice", contextId: "c1" } as Run, "talk", engine);
  return { ...earlier, filters };
}

const file = (name: string, size = 1, sha256 = name): Part => ({
  type: "file",
  name,
  mediaType: "text/csv",
  size,
  sha256,
});
const added = (parts: readonly Part[], more: object = {}): RunEvent => ({
  type: "artifact-added",
  artifactId: "a",
  name: "a",
  parts,
  ...more,
});

test("the five newest tasks that completed are read, the oldest first, each text as far as it may be long", async () => {
  const long = "x".repeat(4_001);
  const { text, filters } = await read(
    { asked: "second", answered: long },
    { asked: long.slice(1), answered: "first" },
  );
  expect(filters).toEqual([{ contextId: "c1", principal: "alice", kind: "talk", statuses: ["completed"], limit: 5 }]);
  expect(text).toBe(`Asked: ${long.slice(1)}\nAnswered: first\n\nAsked: second\nAnswered: ${long.slice(1)} [cut off]`);
});

test("the newest task's files come along, the newest of each name, as many as fit into 4 MB", async () => {
  const all = 4 * 1024 * 1024;
  const handed = [
    added([file("a.csv", 5, "old"), { type: "text", text: "words" }]),
    added([file("b.csv", all), file("a.csv", 1, "new")]),
    added([file("c.csv", all - 1), file("d.csv", 1)]),
  ];
  const stored = (name: string, size: number, sha256 = name) => ({ name, mediaType: "text/csv", size, sha256 });
  const { files } = await read(
    { asked: "newest", events: handed },
    { asked: "older", events: [added([file("e.csv")])] },
  );
  expect(files).toEqual([stored("a.csv", 1, "new"), stored("c.csv", all - 1)]);
  expect((await read({ asked: "one", events: [added([file("b.csv", all)])] })).files).toEqual([stored("b.csv", all)]);
  expect((await read()).files).toEqual([]);
});

test("what each task says last of its sources counts, and one that says nothing may have taken in anything", async () => {
  const told = (...takenIn: string[]) => added([], { takenIn });
  const both = await read(
    { asked: "b", events: [told("bash"), added([])] },
    { asked: "a", events: [told("x"), told("web")] },
  );
  expect(both.takenIn).toEqual(["bash", "web"]);
  expect((await read({ asked: "b", events: [told()] }, { asked: "a" })).takenIn).toEqual(["task"]);
  expect((await read({ asked: "b", events: [told()] })).takenIn).toEqual([]);
});

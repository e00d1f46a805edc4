import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Run } from "../../core/runs/run.ts";
import { scratch } from "../../testing/durable/scratch.ts";
import { createEmbeddedEngine } from "../sqlite/embedded-engine.ts";

const headerBytes = 32;
const frameHeaderBytes = 24;

/**
 * The number of transactions in a store's write-ahead log: those since its last checkpoint; a small
 * new store has had none.
 */
function commitsIn(storePath: string): number {
  const log = readFileSync(`${storePath}-wal`);
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8);
  let commits = 0;
  // Only the last frame of a transaction states the size of the database after it.
  for (let at = headerBytes; at + frameBytes <= log.length; at += frameBytes) {
    if (log.readUInt32BE(at + 4) > 0) commits++;
  }
  return commits;
}

/** How many commits a run of this body takes, including its acceptance and its end. */
async function commitsOf(body: (run: Run) => Promise<unknown>): Promise<number> {
  using store = scratch();
  // No heartbeat happens meanwhile.
  const engine = createEmbeddedEngine({ path: store.path, leaseMs: 3_600_000 });
  engine.work([{ kind: "k", execute: (run) => body(run).then(() => null) }]);
  const complete = async () => {
    const { run } = await engine.start({ kind: "k", input: null, principal: "p", contextId: "c" });
    for await (const _ of engine.follow(run.id, { signal: AbortSignal.timeout(60_000) }));
    expect((await engine.get(run.id))?.status).toBe("completed");
  };
  // The worker executes at once what it accepts as soon as it knows that it is registered.
  await complete();
  const before = commitsIn(store.path);
  await complete();
  const count = commitsIn(store.path) - before;
  await engine.close();
  return count;
}

test("a run that does nothing takes one commit, in which it is accepted, claimed and ended", async () => {
  expect(await commitsOf(async () => null)).toBe(1);
});

test("results of pure steps are recorded with what comes before and next", async () => {
  const body = async (run: Run) => {
    for (let n = 0; n < 5; n++) await run.step("compute", async () => n, { effect: "pure" });
    run.emit({ type: "computed" });
  };
  expect(await commitsOf(body)).toBe(1);
});

test("each step with an effect waits for the records before it, and the last is recorded with the end", async () => {
  const body = async (run: Run) => {
    await run.step("compute", async () => 1, { effect: "pure" });
    for (let n = 0; n < 3; n++) await run.step("act", async () => n);
  };
  // Accepted and computed; the first two acts; the third with the end.
  expect(await commitsOf(body)).toBe(4);
});

test("a once step is on disk before it starts", async () => {
  const body = (run: Run) => run.step("act", async () => 1, { effect: "once" });
  // Accepted and started; done and ended.
  expect(await commitsOf(body)).toBe(2);
});

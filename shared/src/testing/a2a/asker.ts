import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cancelChildrenRun, cancellingChildren, engineCancellingChildren } from "../../a2a/ask/cancel-children.ts";
import { type AskBounds, createPeers, type Peers, type PeersOptions } from "../../a2a/ask/peers.ts";
import type { ReadEvent } from "../../core/events/events.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { Json } from "../../core/json.ts";
import { messageSignal } from "../../core/message.ts";
import type { Engine, RunRecord } from "../../core/runs/engine.ts";
import type { Run, RunEvent } from "../../core/runs/run.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";

/** Runs that ask other agents, on a real engine in a folder that `await using` removes. */
export type AskerForTest = AsyncDisposable & {
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly peers: Peers;
  readonly progress: readonly RunEvent[];
  start(): Promise<string>;
  /** Starts a run, waits for its end, and returns what its body returned. */
  run<Value>(): Promise<Value>;
  until(id: string, ...statuses: RunRecord["status"][]): Promise<RunRecord>;
  events(id: string): Promise<ReadEvent[]>;
  /** Sends a person's next message to a run. */
  say(id: string, text: string): Promise<void>;
};

/**
 * Creates one whose runs execute `body`; `known` resolves current agent addresses, `retrySignal`
 * says when to retry an agent, and `isOwn` which agents are of the same system; `store` is the file
 * of runs, its own if left out.
 */
export async function askerForTest(
  body: (run: Run, peers: Peers) => Promise<unknown>,
  bounds: Partial<AskBounds> = {},
  {
    known,
    retrySignal,
    isOwn,
    fetch,
    store,
  }: Pick<PeersOptions, "known" | "retrySignal" | "isOwn" | "fetch"> & { readonly store?: string } = {},
): Promise<AskerForTest> {
  const home = await mkdtemp(join(tmpdir(), "manyhands-asker-"));
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const own = createEmbeddedEngine({ path: store ?? join(home, "runs.db") });
  const peers = createPeers({
    engine: own,
    artifacts,
    bounds: { patienceMs: 300, ...bounds },
    ...(known && { known }),
    ...(retrySignal && { retrySignal }),
    ...(isOwn && { isOwn }),
    ...(fetch && { fetch }),
  });
  const definition = { kind: "asker", execute: async (run: Run) => (await body(run, peers)) as Json };
  own.work([cancellingChildren(definition, peers), cancelChildrenRun("asker", peers)]);
  const engine = engineCancellingChildren(own, "asker");
  const watching = new AbortController();
  const progress: RunEvent[] = [];
  const watch = async (id: string) => {
    for await (const item of engine.follow(id, { signal: watching.signal }))
      if (item.kind === "progress") progress.push(item.event);
  };
  const asker: AskerForTest = {
    engine,
    artifacts,
    peers,
    progress,
    async start() {
      const { run } = await engine.start({ kind: "asker", input: null, principal: "alice", contextId: "c1" });
      watch(run.id).catch(() => undefined);
      return run.id;
    },
    async until(id, ...statuses) {
      for (const deadline = Date.now() + 60_000; Date.now() < deadline; await Bun.sleep(5)) {
        const record = await engine.get(id);
        if (record !== undefined && statuses.includes(record.status)) return record;
      }
      throw new Error(`run ${id} is not ${statuses.join(" or ")}: ${JSON.stringify(await engine.get(id))}`);
    },
    async run<Value>() {
      const record = await asker.until(await asker.start(), "completed", "failed", "canceled", "paused");
      if (record.status !== "completed") throw new Error(`${record.status}: ${record.error?.message}`);
      return record.output as Value;
    },
    events: async (id) => (await engine.events(id)).map(({ event }) => readEvent(event)),
    async say(id, text) {
      const messageId = crypto.randomUUID();
      await engine.deliver(id, messageSignal, { messageId, parts: [{ type: "text", text }] }, { id: messageId });
    },
    async [Symbol.asyncDispose]() {
      watching.abort();
      await own.close({ graceMs: 0 });
      await rm(home, { recursive: true, force: true });
    },
  };
  return asker;
}

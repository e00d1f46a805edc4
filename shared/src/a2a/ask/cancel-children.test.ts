import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AppError, type ErrorCode } from "../../core/errors.ts";
import type { AskOutcome } from "../../core/events/ask-outcome.ts";
import type { Engine } from "../../core/runs/engine.ts";
import type { Run } from "../../core/runs/run.ts";
import { createEmbeddedEngine } from "../../durable/sqlite/embedded-engine.ts";
import { createArtifactStore } from "../../machine/workspace/artifacts/artifact-store.ts";
import { agentServerForTest } from "../../testing/a2a/agent-server.ts";
import { askerForTest } from "../../testing/a2a/asker.ts";
import { until } from "../../testing/durable/until.ts";
import { askAgent } from "./ask-agent.ts";
import { cancelChildrenRun, cancellingChildren, engineCancellingChildren } from "./cancel-children.ts";
import { createPeers, type Peers } from "./peers.ts";
import { createUnderWay } from "./under-way.ts";

test("an agent that cannot be reached to cancel is retried after growing pauses, until it can", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-recall-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const tries: number[] = [];
  const away = new AppError("unavailable", "It is away.");
  const peers = createPeers({
    engine,
    artifacts: createArtifactStore(join(home, "artifacts")),
    async connect() {
      tries.push(performance.now());
      // The agent is back and does not know the task.
      throw tries.length < 5 ? away : new AppError("not_found", "There is no such task.");
    },
  });
  const owner = { principal: "alice", contextId: "c1" };
  const agent = { askId: "a/0", agent: "helper", url: "http://127.0.0.1:9/", text: "", parts: [], hops: 1 };
  const { run: asker } = await engine.start({
    kind: "asker",
    input: null,
    ...owner,
    events: [{ type: "agent-asked", ...agent }],
  });
  await engine.cancel(asker.id);
  engine.work([cancelChildrenRun("asker", peers)]);
  const input = { runId: asker.id, why: "canceled" };
  const { run } = await engine.start({ kind: "asker/recall", input, ...owner });
  await until(async () => (await engine.get(run.id))?.status === "completed");
  const pauses = tries.slice(1).map((at, n) => at - (tries[n] ?? 0));
  expect(tries).toHaveLength(5);
  for (const [n, least] of [50, 100, 200, 400].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least - 5);
  await engine.close();
  await rm(home, { recursive: true });
});

test("a canceled run's asks are canceled even if the process died before the run itself was", async () => {
  const home = await mkdtemp(join(tmpdir(), "manyhands-recall-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const died = new Error("The process died.");
  const dying = engineCancellingChildren({ ...engine, cancel: () => Promise.reject(died) }, "asker");
  const { run } = await engine.start({ kind: "asker", input: null, principal: "alice", contextId: "c1" });
  expect(await dying.cancel(run.id).catch((error: unknown) => error)).toBe(died);
  const peers = createPeers({ engine, artifacts: createArtifactStore(join(home, "artifacts")) });
  engine.work([cancelChildrenRun("asker", peers)]);
  await until(async () => (await engine.get(run.id))?.status === "canceled");
  await engine.close();
  await rm(home, { recursive: true });
});

test("what a run asked for is canceled when the run fails", async () => {
  await using slow = await agentServerForTest({ script: [{ text: "never ending", stallAfter: 1 }] });
  const ask = { agent: { name: "helper", url: slow.url }, parts: [{ type: "text", text: "Go on." }], hops: 0 } as const;
  await using asker = await askerForTest((run, peers) =>
    run.race<AskOutcome>([
      (own) => askAgent(own, ask, peers),
      async (own) => {
        await own.step("until the other is at work", () =>
          until(() => slow.model.requests.length === 1).then(() => null),
        );
        throw new AppError("stuck", "No way on.");
      },
    ]),
  );
  const { error } = await asker.until(await asker.start(), "failed");
  expect(error?.code).toBe("stuck");
  expect((await slow.tasks()).map(({ status }) => status)).toEqual(["canceled"]);
});

const helper = { name: "helper", url: "http://127.0.0.1:9/" };
const asked = { type: "agent-asked", askId: "a/0", agent: "helper", url: helper.url, text: "", parts: [], hops: 1 };
const owner = { principal: "alice", contextId: "c1" };
const recall = (why: string) => ({
  ...{ kind: "asker/recall", input: { runId: "r", why }, ...owner },
  dedupe: { key: "recall r", hash: "r" },
});

test.each([
  ["asker", "running", [recall("canceled"), "cancel r"]],
  ["asker", "waiting", [recall("canceled"), "cancel r"]],
  ["asker", "completed", ["cancel r"]],
  ["asker/push", "running", ["cancel r"]],
  [undefined, "running", ["cancel r"]],
])("what is canceled with a run of kind %p that is %s", async (kind, status, done) => {
  const steps: unknown[] = [];
  const engine = {
    get: async (id: string) => (kind === undefined ? undefined : { id, kind, status, ...owner, input: "more" }),
    start: async (what: object) => void steps.push(what),
    cancel: async (id: string) => void steps.push(`cancel ${id}`),
  };
  await engineCancellingChildren(engine as unknown as Engine, "asker").cancel("r");
  expect(steps).toEqual(done);
});

/**
 * A run whose body asks an agent that is away when the run ends; what is begun, and which steps it
 * took.
 */
async function ending(body: "asks" | "asks and fails" | "asks nothing", isAborted = false) {
  const started: unknown[] = [];
  const steps: string[] = [];
  const forgotten: boolean[] = [];
  const underWay = createUnderWay();
  const { execution } = underWay;
  underWay.execution = (id) => {
    const asks = execution(id);
    const forget = () => {
      asks.forget();
      forgotten.push(true);
    };
    return { ...asks, forget };
  };
  const peers = {
    underWay,
    actingFor: () => peers,
    client: () => Promise.reject(new AppError("unavailable", "It is away.")),
    engine: {
      events: async () => [{ runId: "r", seq: 1, at: 0, event: asked }],
      start: async (what: object) => void started.push(what),
    },
  };
  const { signal } = new AbortController();
  const run = {
    ...{ id: "r", ...owner, abortSignal: isAborted ? AbortSignal.abort() : signal },
    step(name: string, work: (context: object) => Promise<unknown>) {
      steps.push(name);
      return work({ key: `a/${steps.length}`, signal, emit: () => undefined });
    },
  };
  const execute = async () => {
    if (body !== "asks nothing") underWay.begin("r");
    if (body === "asks and fails") throw new AppError("stuck", "No way on.");
    return "an answer";
  };
  const { execute: settled } = cancellingChildren({ kind: "asker", execute }, peers as unknown as Peers);
  const outcome = await settled(run as unknown as Run, null).catch((error: AppError) => error.code);
  return { outcome, started, steps, forgotten };
}

test("a run that ends leaves what it could not reach to one that cancels it later, and is not canceled itself", async () => {
  const settled = ["settle asks", "cancel open asks", "recall"];
  const left = { started: [recall("ending")], steps: settled, forgotten: [true] };
  expect(await ending("asks")).toMatchObject({ outcome: "an answer", ...left });
  expect(await ending("asks and fails")).toMatchObject({ outcome: "stuck", ...left });
  const none = { started: [], steps: [], forgotten: [true] };
  expect(await ending("asks nothing")).toMatchObject({ outcome: "an answer", ...none });
  // What canceled it sees to its asks.
  expect(await ending("asks and fails", true)).toMatchObject({ outcome: "stuck", ...none });
});

/** A recall of a run that has these states at each look, whose agent is away as often. */
async function recalling(states: readonly (string | undefined)[], away: number, canceled?: AppError) {
  const left = [...states];
  const back = new AbortController();
  const slept: (readonly [ms: number, isEnded: boolean])[] = [];
  let canceling = 0;
  const peers = {
    actingFor: () => peers,
    retrySignal: ({ name }: { readonly name: string }) => (name === helper.name ? back.signal : undefined),
    async client() {
      if (canceling++ < away) throw new AppError("unavailable", "It is away.");
      return { cancelMessage: async () => undefined };
    },
    engine: {
      async cancel() {
        if (canceled !== undefined) throw canceled;
      },
      get: async () => (left.length === 0 ? undefined : { status: left.shift() }),
      events: async () => (states.length === 0 ? [] : [{ runId: "r", seq: 1, at: 0, event: asked }]),
    },
  };
  const { signal } = new AbortController();
  const run = {
    principal: "alice",
    step: (_: string, work: (context: object) => Promise<unknown>) => work({ signal, now: () => 0 }),
    async sleep(ms: number, { until: ends }: { readonly until: AbortSignal }) {
      if (slept.length === 1) back.abort();
      slept.push([ms, ends.aborted]);
    },
  };
  const { execute } = cancelChildrenRun("asker", peers as unknown as Peers);
  const outcome = await execute(run as unknown as Run, { runId: "r", why: "canceled" }).catch((error) => error.code);
  return { outcome, canceling, slept };
}

test("what a run asked for is canceled once the run has ended, and again as soon as its agent is back", async () => {
  expect(await recalling(["running", "canceled"], 0)).toEqual({ outcome: null, canceling: 1, slept: [[50, false]] });
  const slept = [
    [50, false],
    [100, true],
  ];
  expect(await recalling(["canceled", "canceled", "canceled"], 2)).toEqual({
    outcome: null,
    canceling: 3,
    slept,
  } as never);
});

test("a run that is gone or has ended is not canceled any more, and any other failure to cancel it is told", async () => {
  const after = async (code: ErrorCode) => (await recalling([], 0, new AppError(code, "No."))).outcome;
  expect([await after("not_found"), await after("run_ended")]).toEqual([null, null]);
  expect(await after("storage_unavailable")).toBe("storage_unavailable");
});

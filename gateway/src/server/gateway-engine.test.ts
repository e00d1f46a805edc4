import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cancelChildrenRun } from "manyhands/internal/a2a/ask/cancel-children";
import { forgetRun } from "manyhands/internal/a2a/ask/forget-run";
import * as pushing from "manyhands/internal/a2a/push/push-run";
import { AppError } from "manyhands/internal/core/errors";
import type { Engine } from "manyhands/internal/core/runs/engine";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { gatewayEngine, type Owners, type WorkDeps, workOn } from "./gateway-engine.ts";

let home: string;
let engine: Engine;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-gateway-engine-"));
  engine = createEmbeddedEngine({ path: join(home, "runs.db") });
});
afterEach(async () => {
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

/** Cancels a run of an agent, which is reached so; what was said of it, and how the run stands. */
async function canceled(agentOf: Owners["agentOf"]) {
  const { run } = await engine.start({ kind: "swe", input: {}, principal: "p", contextId: "c" });
  const said = await gatewayEngine(engine, { isOurs: () => false, agentOf })
    .cancel(run.id)
    .then(
      () => "done",
      (error: Error) => error.message,
    );
  return [said, (await engine.get(run.id))?.status];
}

const away = new AppError("unavailable", "It is away.");

test("a run is canceled even if its agent is unreachable, disallowed, unknown or fails to cancel it", async () => {
  const failing = { cancel: () => Promise.reject(away) };
  for (const agentOf of [
    () => Promise.reject(away),
    () => Promise.reject(new AppError("forbidden", "Its card is not signed.")),
    async () => failing,
    () => undefined,
  ])
    expect(await canceled(agentOf)).toEqual(["done", "canceled"]);
});

test("the run's own agent cancels it first, and a bug does not count as an unreachable agent", async () => {
  const seen: unknown[] = [];
  const asked: Owners["agentOf"] = async ({ kind, principal }) => ({
    async cancel(id) {
      seen.push([kind, principal, (await engine.get(id))?.status]);
      throw away;
    },
  });
  expect(await canceled(asked)).toEqual(["done", "canceled"]);
  expect(seen).toEqual([["swe", "p", "queued"]]);
  expect(await canceled(() => Promise.reject(new TypeError("a bug")))).toEqual(["a bug", "queued"]);
});

test("a run of the gateway's own is canceled here with what it asked, without asking an agent for it", async () => {
  const owners: Owners = {
    isOurs: (kind) => kind === "swe",
    agentOf: () => Promise.reject(new Error("An agent was asked.")),
  };
  const { run } = await engine.start({ kind: "swe", input: {}, principal: "p", contextId: "c" });
  await gatewayEngine(engine, owners).cancel(run.id);
  expect((await engine.get(run.id))?.status).toBe("canceled");
  const kinds = [cancelChildrenRun("swe", {} as never).kind];
  expect((await engine.list({ kinds, limit: 9 })).runs).toHaveLength(1);
  const reason = (cancel: Promise<unknown>) => cancel.then(String, (error: Error) => error.message);
  expect(await reason(gatewayEngine(engine, owners).cancel("unknown"))).toBe(await reason(engine.cancel("unknown")));
});

test("an agent that does not answer is waited for five seconds, as long as it is sought and as long as it cancels", async () => {
  const untilGivenUp = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const silent = {
    cancel: (_: string, options?: { readonly signal?: AbortSignal }) => untilGivenUp(options?.signal as AbortSignal),
  };
  for (const agentOf of [(_: unknown, signal: AbortSignal) => untilGivenUp(signal), async () => silent]) {
    const late = new AbortController();
    const timeout = spyOn(AbortSignal, "timeout").mockReturnValue(late.signal);
    const ending = canceled(agentOf);
    while (timeout.mock.calls.length === 0) await Bun.sleep(0);
    late.abort(new DOMException("It is late.", "TimeoutError"));
    expect(await ending).toEqual(["done", "canceled"]);
    expect(timeout.mock.calls).toEqual([[5_000]]);
    timeout.mockRestore();
  }
});

test("the runs of a flow are worked on many at once, with those that clean up after them; receivers are told in a pool of their own", () => {
  const worked: unknown[] = [];
  const work: Engine["work"] = (definitions, options) =>
    void worked.push([definitions.map(({ kind }) => kind), options]);
  const deps = { peers: {}, push: {} } as unknown as WorkDeps;
  using push = spyOn(pushing, "pushRun");
  workOn({ name: "debate" } as never, "http://here/a2a/debate", { ...engine, work }, deps);
  const kinds = ["debate", cancelChildrenRun("debate", {} as never).kind, forgetRun("debate", {} as never).kind];
  expect(worked).toEqual([
    [kinds, { concurrency: 1_000 }],
    [["debate/push"], { concurrency: 1_000, dedicatedPool: true }],
  ]);
  expect(push.mock.calls).toMatchObject([[{ kind: "debate", publicUrl: "http://here/a2a/debate" }]]);
});

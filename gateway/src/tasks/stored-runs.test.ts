import { expect, spyOn, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "manyhands/internal/config/config";
import type { Run } from "manyhands/internal/core/runs/run";
import { askPerson } from "manyhands/internal/core/tools/question";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import * as opening from "manyhands/internal/server/storage/open-engine";
import { openStoredRuns, storedRuns } from "./stored-runs.ts";

test("a run that asks waits for an answer, even while another branch is running", async () => {
  const home = await mkdtemp(join(tmpdir(), "stored-runs-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const working = Promise.withResolvers<null>();
  const asks = (own: Run) => askPerson(own, { question: "Which colour?", kind: "question" });
  const works = (own: Run) => own.step("work", () => working.promise, { effect: "pure" });
  const execute = async (run: Run) => {
    await run.all<unknown>([asks, works]);
    return null;
  };
  engine.work([{ kind: "parallel", execute }]);
  const stored = storedRuns(engine, createArtifactStore(join(home, "artifacts")));
  const { run } = await engine.start({ kind: "parallel", input: {}, principal: "p", contextId: "c" });
  for await (const item of engine.follow(run.id, { signal: AbortSignal.timeout(60_000) }))
    if (item.kind === "event" && item.event.type === "question-asked") break;
  const [listed] = await stored.list({ limit: 1, signal: AbortSignal.timeout(60_000) });
  expect(listed?.state).toBe("input-required");
  expect((await Array.fromAsync(stored.show(run.id))).at(-1)).toMatchObject({ state: "input-required" });
  working.resolve(null);
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

test("a task that a run gave to an agent is listed with the agent's runs, not beside the run that asked", async () => {
  const home = await mkdtemp(join(tmpdir(), "stored-runs-"));
  const engine = createEmbeddedEngine({ path: join(home, "runs.db") });
  const begin = (kind: string, messageId: string, text: string) =>
    engine.start({
      kind,
      input: { message: { messageId, parts: [{ type: "text", text }] } },
      principal: "p",
      contextId: "c",
      dedupe: { key: JSON.stringify([kind, "p", messageId]), hash: "" },
    });
  const { run } = await begin("agent:manus", "m", "paint it");
  await begin("manus", `${run.id}/2`, "paint it");
  await begin("manus", "n", "alone");
  const titles = async (kind?: string) => {
    const stored = storedRuns(engine, createArtifactStore(join(home, "artifacts")), kind);
    const listed = await stored.list({ limit: 9, signal: AbortSignal.timeout(60_000) });
    return listed.map(({ of = "", title }) => `${of} ${title}`.trim());
  };
  expect(await titles()).toEqual(["manus alone", "manus paint it"]);
  expect(await titles("manus")).toEqual(["alone", "paint it"]);
  await engine.close({ graceMs: 0 });
  await rm(home, { recursive: true });
});

test("the runs on the disk are let go again by who opened them, and where there are none there is nothing to open", async () => {
  const config = await loadConfig({ cwd: "/", env: {} });
  let closed = 0;
  using opened = spyOn(opening, "openStore").mockResolvedValue({ close: async () => void closed++ } as never);
  await (await openStoredRuns(config))?.[Symbol.asyncDispose]();
  expect([closed, opened.mock.calls]).toEqual([1, [[config]]]);
  opened.mockResolvedValue(undefined);
  expect(await openStoredRuns(config)).toBeUndefined();
});

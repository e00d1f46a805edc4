import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWebhooks } from "manyhands/internal/a2a/push/webhooks";
import { loadConfig } from "manyhands/internal/config/config";
import { type Engine, silentLog } from "manyhands/internal/core/runs/engine";
import type { QuotaConfig } from "manyhands/internal/core/runs/quota";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import { createEmbeddedEngine } from "manyhands/internal/durable/sqlite/embedded-engine";
import { createArtifactStore } from "manyhands/internal/machine/workspace/artifacts/artifact-store";
import { keptFile } from "manyhands/internal/machine/workspace/own-files/kept-file";
import { createProjectionCache } from "manyhands/internal/runs/projection-cache";
import { createQuotas } from "manyhands/internal/runs/quotas";
import { openRuns, type Runs } from "manyhands/internal/runs/runs";
import { openStarts, type Starts, type StartsDeps } from "../starts/open-starts.ts";
import { echo, echoRun } from "./gateway.ts";

/** A clock that tests set. */
export type Clock = { now: number };

/** What starts by itself, over a store of its own and a clock that a test sets. */
export type TestStarts = AsyncDisposable &
  Starts & {
    readonly engine: Engine;
    readonly runs: Runs;
    readonly kept: KeptText;
    readonly clock: Clock;
    readonly warned: readonly string[];
    /** The same for another gateway over the same store. */
    another(replace?: Partial<StartsDeps>): Promise<Starts>;
    /** The texts of all runs of `echo`, the newest first. */
    told(): Promise<string[]>;
  };

/** Opens it with these settings at a time; its only runnable is `echo`. */
export async function startsForTest(
  env: Readonly<Record<string, string>>,
  options: {
    readonly at: string;
    readonly quotas?: QuotaConfig;
    readonly toml?: string;
    readonly tokens?: StartsDeps["tokens"];
    /** The store of several machines, instead of files. */
    readonly over?: { readonly engine: Engine; readonly kept: KeptText };
  },
): Promise<TestStarts> {
  const { at, quotas, toml, tokens, over } = options;
  const home = await mkdtemp(join(tmpdir(), "starts-"));
  const engine = over?.engine ?? createEmbeddedEngine({ path: join(home, "runs.db") });
  if (toml !== undefined) await Bun.write(join(home, "manyhands.toml"), toml);
  const { triggers } = await loadConfig({ cwd: home, env });
  const projections = createProjectionCache(engine);
  const runnables = { all: () => [echo], ofKind: () => echo };
  const artifacts = createArtifactStore(join(home, "artifacts"));
  const publicUrl = "http://gateway.test";
  const runs = openRuns({ engine, artifacts, projections, runnables, quotas: createQuotas(quotas), publicUrl });
  engine.work([{ kind: echo.kind, execute: echoRun }]);
  const clock = { now: Date.parse(at) };
  const warned: string[] = [];
  const kept = over?.kept ?? keptFile(join(home, "schedules.json"));
  const log = { ...silentLog, warn: (_: object, message: string) => void warned.push(message) };
  const another = async (replace: Partial<StartsDeps> = {}) =>
    openStarts(triggers, {
      ...{ engine, runs, runnables, publicUrl, log, now: () => clock.now, tokens },
      kept,
      webhooks: (allow) => createWebhooks({ allow, deny: [], only: [] }),
      ...replace,
    });
  return {
    ...(await another()),
    ...{ engine, runs, kept, clock, warned, another },
    async told() {
      const { runs: found } = await engine.list({ kind: echo.kind, limit: 100 });
      return Promise.all(found.map(async (run) => (await runs.view(run)).input));
    },
    async [Symbol.asyncDispose]() {
      await engine.close({ graceMs: 0 });
      await rm(home, { recursive: true });
    },
  };
}

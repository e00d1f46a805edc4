import type pino from "pino";
import type { Config } from "../../config/config.ts";
import type { Engine } from "../../core/runs/engine.ts";
import { sweep } from "../../runs/sweep.ts";
import { openHomeFiles } from "../machine/open-workspaces.ts";
import { openArtifacts } from "./open-artifacts.ts";

/** What sweeping needs of the server. */
export type SweepingDeps = { readonly engine: Engine; readonly log: Pick<pino.Logger, "info" | "error"> };

/** A sweep that left something takes this long to continue. Milliseconds. */
const continueMs = 1000;

/**
 * Deletes what `[retention]` lets go, at once and from then on at intervals, until it is stopped.
 * Every server of a home does so; none of them waits for another. Returns what stops it.
 */
export function startSweeping(config: Config, { engine, log }: SweepingDeps): () => void {
  const { retention, a2a } = config;
  const { summary, ...kept } = retention;
  const files = openHomeFiles(config, { artifacts: openArtifacts(config), engine });
  let isStopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pass = async () => {
    let more = false;
    try {
      const swept = await sweep({ engine, files, retention: kept, dedupeMs: a2a.dedupeMs });
      const counts = {
        runs: swept.runs.length,
        journals: swept.journals,
        workspaces: swept.workspaces.length,
        artifacts: swept.artifacts.length,
      };
      if (Object.values(counts).some((count) => count > 0)) log.info(counts, "deleted what retention lets go");
      more = swept.more;
    } catch (error) {
      if (!isStopped) log.error({ err: error }, "What retention lets go could not be deleted; it is tried again.");
    }
    if (!isStopped) later(more ? continueMs : retention.everyMs);
  };
  const later = (ms: number) => {
    timer = setTimeout(() => void pass(), Math.min(ms, longestTimerMs));
    timer.unref();
  };
  log.info(`Retention: ${summary}.`);
  later(0);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** The longest a timer can take. */
const longestTimerMs = 2 ** 31 - 1;

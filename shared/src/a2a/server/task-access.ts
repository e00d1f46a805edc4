import type { RunRecord } from "../../core/engine.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import type { Intake } from "../../runs/accept-message.ts";
import { ownRun } from "../../runs/own-run.ts";
import type { ProjectionCache } from "../../runs/projection-cache.ts";
import type { Receivers } from "../push/receivers.ts";

/** What reading and changing the tasks of one agent needs. `kind` is the kind of its runs. */
export type TaskDeps = Intake & {
  readonly artifacts: ArtifactStore;
  readonly projections: ProjectionCache;
  /** Where this server is reached from outside; file parts point there. */
  readonly publicUrl: string;
  /** Who is told of tasks by notifications; left out where none are sent. */
  readonly receivers?: Receivers;
};

/**
 * The run behind a task of this agent and this principal. Rejects with `not_found` for any other.
 */
export function ownTask({ engine, kind }: TaskDeps, taskId: string, principal: string): Promise<RunRecord> {
  return ownRun(engine, taskId, { principal, kind });
}

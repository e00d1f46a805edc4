import { TaskNotFoundError } from "@a2a-js/sdk/errors";
import type { Engine, RunRecord } from "../durable/engine.ts";
import type { UserMessage } from "../tools/human/user-message.ts";
import type { ArtifactStore } from "../workspace/workspace.ts";
import type { FoldCache } from "./fold-cache.ts";
import type { Receivers } from "./push/receivers.ts";

/** What reading and changing the tasks of one agent needs. */
export type TaskDeps = {
  /** The agent's name, which is the kind of its runs. */
  readonly agent: string;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly folds: FoldCache;
  /** Throws an AppError for a message that no task can be begun with; all are taken when left out. */
  readonly admit?: (message: UserMessage) => void;
  /** Where this server is reached from outside; file parts point there. */
  readonly publicUrl: string;
  /** Who is told of tasks by notifications; left out where none are sent. */
  readonly receivers?: Receivers;
};

/** The run behind a task of this agent and this principal. Someone else's is as unknown as one that never was. */
export async function ownRun(deps: TaskDeps, taskId: string, principal: string): Promise<RunRecord> {
  const run = await deps.engine.get(taskId);
  if (run === undefined || run.kind !== deps.agent || run.principal !== principal) {
    throw new TaskNotFoundError(`There is no task ${taskId}`);
  }
  return run;
}

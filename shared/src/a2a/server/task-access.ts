import type { RunRecord } from "../../core/runs/engine.ts";
import type { Intake } from "../../runs/accept-message.ts";
import { ownRun } from "../../runs/own-run.ts";
import type { ProjectionCache } from "../../runs/projection-cache.ts";
import type { Receivers } from "../push/receivers.ts";
import type { AnswerDraft } from "./growing-answer.ts";

/** What reading and changing one agent's tasks needs. `kind` is the kind of its runs. */
export type TaskDeps = Intake & {
  readonly projections: ProjectionCache;
  /** This server's public address; file parts link to it. */
  readonly publicUrl: string;
  /** What readers of a stream see of the answer while it is written. */
  readonly draft: AnswerDraft;
  /**
   * How long a message sent again is the same task, for callers that do not activate the dedupe
   * extension. Milliseconds; 0: never.
   */
  readonly dedupeMs: number;
  /** The receivers of push notifications; omitted if none are sent. */
  readonly receivers?: Receivers;
};

/**
 * The run behind a task of this agent and this principal. Rejects with `not_found` for all others.
 */
export function ownTask({ engine, kind }: TaskDeps, taskId: string, principal: string): Promise<RunRecord> {
  return ownRun(engine, taskId, { principal, kind, called: "task" });
}

import type { StateName } from "manyhands/internal/a2a/task-state";
import type { ReadEvent } from "manyhands/internal/core/events/events";
import type { Progress } from "manyhands/internal/core/events/progress";

/**
 * Where a task stands, in A2A's words, which have none for one that stopped until somebody removes
 * the cause.
 */
export type ShownState = StateName | "paused";

/**
 * One thing a watcher of a task is told: an event of its journal in its place, live progress, or
 * where the task stands.
 */
export type TaskItem =
  | { readonly kind: "event"; readonly seq: number; readonly at: number; readonly event: ReadEvent }
  | { readonly kind: "progress"; readonly event: Progress }
  | {
      readonly kind: "state";
      readonly taskId: string;
      readonly contextId: string;
      readonly state: ShownState;
      /** Since when, where the agent tells. */
      readonly at?: number;
      /** What the agent said with it: a question, the cause of a failure. */
      readonly text?: string;
    };

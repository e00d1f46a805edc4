import type { StartConfig } from "manyhands/internal/config/triggers/trigger-config";
import type { RunRecord } from "manyhands/internal/core/runs/engine";
import { settingsMetadata } from "manyhands/internal/core/runs/task";
import type { TakenIn } from "manyhands/internal/core/taken-in";
import { findRunnable, type Runnables } from "manyhands/internal/runs/runnable";
import type { Runs } from "manyhands/internal/runs/runs";
import type { Notifications } from "./notify/notifications.ts";

/** What starting runs by themselves needs. */
export type StartDeps = {
  readonly runs: Pick<Runs, "start">;
  readonly runnables: Runnables;
  readonly notifications: Pick<Notifications, "watch">;
};

/**
 * A text to start with. If it has words of others in it, `said` is what the principal said itself,
 * and `takenIn` where the others' come from; a webhook, unless it says so.
 */
export type StartText = { readonly text: string; readonly said?: string; readonly takenIn?: TakenIn };

/** The source of what comes with webhooks, in what a task has taken in. */
const webhookSource = "webhook";

/**
 * Starts a run of the principal, once for each messageId, and tells the targets of it. A text with
 * words of others starts a task that has passed through somebody else: they are nobody's orders and
 * what the task took in, from its first turn.
 */
export async function startRunOf(
  { start, settings, budget, notify, principal }: StartConfig,
  { text, said, takenIn = [webhookSource] }: StartText,
  messageId: string,
  { runs, runnables, notifications }: StartDeps,
): Promise<RunRecord> {
  const metadata = settingsMetadata(settings);
  const message = {
    messageId,
    parts: [{ type: "text" as const, text }],
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  const foreign = said === undefined ? {} : { hops: 1, said: [said], takenIn };
  const run = await runs.start(
    findRunnable(runnables, start),
    { message, ...foreign, ...(budget && { budget }) },
    principal,
  );
  await notifications.watch(run, notify);
  return run;
}

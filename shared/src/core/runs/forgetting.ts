/** A task that a run gave to an agent with another store. */
export type RemoteTaskName = {
  readonly agent: { readonly name: string; readonly url: string };
  readonly taskId: string;
};

/**
 * What became of such a task: `deleted` there; `pending`, because the agent could not be reached
 * and is asked again for a day; or `kept`, because the agent deletes nothing for others.
 */
export type RemoteOutcome = RemoteTaskName & { readonly outcome: "deleted" | "pending" | "kept" };

/** The kind of run that deletes at other agents what runs of `kind` gave them. */
export function forgetKind(kind: string): string {
  return `${kind}/forget`;
}

/** The input of such a run. */
export type ForgetInput = { readonly runId: string; readonly tasks: readonly RemoteTaskName[] };

import type { Skill } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import type { UserMessage } from "../core/message.ts";
import type { JsonSchema } from "../core/model.ts";
import type { FlowSettings } from "../core/task.ts";

/** What a caller of the gateway can start, through whatever adapter: a flow, or an agent. */
export type Runnable = {
  readonly type: "flow" | "agent";
  /** The name in addresses and lists, of all runnables of a gateway. */
  readonly name: string;
  /** The kind of its runs in the journal. */
  readonly kind: string;
  /**
   * The kind of the runs that the agent's own server keeps in the same store, for one that has the
   * same home.
   */
  readonly ownKind?: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly Skill[];
  /** What may be set for a run, for those that can be told something beside the task. */
  readonly options?: JsonSchema;
  /**
   * The agents that work where the caller has no way to name any, for a flow that goes on none by
   * itself.
   */
  readonly team?: readonly string[];
  /**
   * What a first message sets for a flow. Throws `invalid_input` for one that no run can begin
   * with.
   */
  admit(message: UserMessage): FlowSettings;
};

/** The runnables of a gateway as they are now; agents come and go. */
export interface Runnables {
  all(): readonly Runnable[];
  /** The one whose runs are of this kind, at the gateway or at the agent itself. */
  ofKind(kind: string): Runnable | undefined;
}

/** The kinds of its runs: those started here, and those started at the agent itself. */
export function kindsOf({ kind, ownKind }: Runnable): readonly string[] {
  return ownKind === undefined ? [kind] : [kind, ownKind];
}

/** The runnable of a name. Throws `not_found`, naming those there are. */
export function findRunnable(runnables: Runnables, name: string, type?: Runnable["type"]): Runnable {
  const known = runnables.all().filter((one) => type === undefined || one.type === type);
  const found = known.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = known.map((one) => one.name).join(", ") || "none";
  throw new AppError("not_found", `There is no ${type ?? "flow or agent"} ${JSON.stringify(name)}. Known: ${names}.`);
}

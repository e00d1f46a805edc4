import type { Skill } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import type { FlowExample } from "../core/flow.ts";
import type { UserMessage } from "../core/message.ts";
import type { JsonSchema } from "../core/model.ts";
import type { FlowSettings } from "../core/runs/task.ts";

/** What a caller of the gateway can start, through any adapter: a flow or an agent. */
export type Runnable = {
  readonly type: "flow" | "agent";
  /** The name in addresses and lists, unique among a gateway's runnables. */
  readonly name: string;
  /** The kind of its runs in the journal. */
  readonly kind: string;
  /**
   * The kind of the runs that the agent's own server keeps in the same store, if they share a home.
   */
  readonly ownKind?: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly skills: readonly Skill[];
  /** What may be set for a run besides the task, if anything. */
  readonly options?: JsonSchema;
  /** A request that shows what it is for, with agents that are here. */
  readonly example?: FlowExample;
  /** The agents to use if the caller cannot name any, for a flow that needs agents to be named. */
  readonly team?: readonly string[];
  /** The flow settings of a first message. Throws `invalid_input` if no run can start with it. */
  admit(message: UserMessage): FlowSettings;
};

/** The runnables of a gateway as they are now; agents come and go. */
export interface Runnables {
  all(): readonly Runnable[];
  /** The runnable whose runs have this kind, at the gateway or at the agent itself. */
  ofKind(kind: string): Runnable | undefined;
}

/** The kinds of its runs: started here, or at the agent itself. */
export function kindsOf({ kind, ownKind }: Runnable): readonly string[] {
  return ownKind === undefined ? [kind] : [kind, ownKind];
}

/** The runnable with this name. Throws `not_found`, listing the known names. */
export function findRunnable(runnables: Runnables, name: string, type?: Runnable["type"]): Runnable {
  const known = runnables.all().filter((one) => type === undefined || one.type === type);
  const found = known.find((one) => one.name === name);
  if (found !== undefined) return found;
  const names = known.map((one) => one.name).join(", ") || "none";
  throw new AppError("not_found", `There is no ${type ?? "flow or agent"} ${JSON.stringify(name)}. Known: ${names}.`);
}

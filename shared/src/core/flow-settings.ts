import * as z from "zod";
import type { Json } from "./json.ts";
import type { UserMessage } from "./message.ts";

/** Under which key of its metadata the message that starts a flow says which agents work on the task, and how. */
export const flowSettingsKey = "manyhands/flow";

const mostAgents = 50;

/** What a caller may set for a flow: which agents, and the flow's own options. */
export const flowSettings = z.strictObject({
  agents: z.array(z.string().trim().min(1)).min(1).max(mostAgents).exactOptional(),
  options: z.record(z.string(), z.json()).exactOptional(),
});

/** What a caller sets for a flow. */
export type FlowSettings = {
  readonly agents?: readonly string[];
  readonly options?: { readonly [name: string]: Json };
};

/** Settings as they travel in a message's metadata; nothing where nothing is set. */
export function settingsMetadata({ agents, options }: FlowSettings): NonNullable<UserMessage["metadata"]> {
  const set = { ...(agents && { agents }), ...(options && Object.keys(options).length > 0 && { options }) };
  return Object.keys(set).length === 0 ? {} : { [flowSettingsKey]: set };
}

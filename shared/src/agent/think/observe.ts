import type { AgentDefinition } from "../../core/agent.ts";
import { abortable } from "../../core/async/within.ts";
import { messageOf } from "../../core/errors.ts";
import type { Model } from "../../core/model.ts";
import type { Observation } from "../../core/tools/tool.ts";
import type { Workspaces } from "../../core/workspace.ts";
import { estimateText } from "../../models/tokens.ts";
import type { AgentState } from "../task/agent-state.ts";
import { lastSeen } from "./views.ts";

/** What observing needs of the server. */
export type LookDeps = Workspaces & {
  readonly model: Model;
  /** Milliseconds a look may take; defaults to 15,000. */
  readonly lookMs?: number;
};

/** The largest share of the model's window that an observation may use. */
const share = 0.2;

/**
 * What the agent sees now, if that is anything new. A look that fails or takes too long yields a
 * text that says so, since a model that is shown nothing assumes the page is gone; only an abort
 * rejects.
 */
export async function observe(
  { look }: Pick<AgentDefinition, "look">,
  task: Pick<AgentState, "run" | "contextWindow" | "messages" | "views">,
  { model, openWorkspace, lookMs = 15_000 }: LookDeps,
  signal: AbortSignal,
): Promise<Observation | undefined> {
  if (look === undefined) return undefined;
  const { run, contextWindow, messages, views } = task;
  const { text, mark } = lastSeen(views);
  const timer = AbortSignal.timeout(lookMs);
  const both = AbortSignal.any([signal, timer]);
  const options = {
    signal: both,
    vision: model.capabilities.vision,
    recent: recentTools(messages),
    since: mark,
    isFirst: text === undefined,
  };
  const fresh = (observation: Observation | undefined) => (observation?.text === text ? undefined : observation);
  const failed = (why: string) =>
    fresh({ text: `[Could not look: ${why}]`, ...(mark !== undefined && { since: mark }) });
  try {
    both.throwIfAborted();
    const seeing = openWorkspace(run.principal, run.contextId).then((workspace) => look(workspace, options));
    const observation = await abortable(seeing, both);
    return fresh(observation && cut(observation, Math.floor(contextWindow * share)));
  } catch (error) {
    signal.throwIfAborted();
    if (timer.aborted) return failed(`it took longer than ${lookMs / 1000} s. Look again before you act.`);
    return failed(messageOf(error));
  }
}

const recentTurns = 3;

function recentTools(messages: AgentState["messages"]): string[] {
  const names: string[] = [];
  let turns = 0;
  for (let at = messages.length - 1; at >= 0 && turns < recentTurns; at--) {
    const message = messages[at];
    if (message?.role !== "assistant") continue;
    turns += 1;
    names.unshift(...message.toolCalls.map(({ name }) => name));
  }
  return names;
}

/** A text that was cut cannot be the base of later changes. */
function cut(observation: Observation, tokens: number): Observation {
  const size = estimateText(observation.text);
  if (size <= tokens) return observation;
  const head = observation.text.slice(0, Math.floor((observation.text.length * tokens) / size)).toWellFormed();
  const { mark: _, ...rest } = observation;
  return { ...rest, text: `${head}\n[… the rest of what is seen was left out: it is too long for the model …]` };
}

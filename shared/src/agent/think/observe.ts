import type { AgentDefinition } from "../../core/agent.ts";
import type { Model } from "../../core/model.ts";
import type { Observation } from "../../core/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { estimateText } from "../../models/tokens.ts";
import type { AgentState } from "../task/agent-state.ts";

/** What observing needs of the server. */
export type LookDeps = {
  readonly model: Model;
  openWorkspace(principal: string, contextId: string): Promise<Workspace>;
  /** Milliseconds a look may take; defaults to 15,000. */
  readonly lookMs?: number;
};

/** The largest share of the model's window that an observation may use. */
const share = 0.2;

/**
 * What the agent sees now. A look that fails or takes too long yields a text that says so, since a
 * model that is shown nothing assumes the page is gone; only an abort rejects.
 */
export async function observe(
  { look }: Pick<AgentDefinition, "look">,
  { run, contextWindow, messages }: Pick<AgentState, "run" | "contextWindow" | "messages">,
  { model, openWorkspace, lookMs = 15_000 }: LookDeps,
  signal: AbortSignal,
): Promise<Observation | undefined> {
  if (look === undefined) return undefined;
  const timer = AbortSignal.timeout(lookMs);
  const both = AbortSignal.any([signal, timer]);
  const hung = Promise.withResolvers<never>();
  const stop = () => hung.reject(both.reason);
  both.addEventListener("abort", stop, { once: true });
  try {
    both.throwIfAborted();
    const seeing = openWorkspace(run.principal, run.contextId).then((workspace) =>
      look(workspace, { signal: both, vision: model.capabilities.vision, recent: recentTools(messages) }),
    );
    const observation = await Promise.race([seeing, hung.promise]);
    return observation === undefined ? undefined : cut(observation, Math.floor(contextWindow * share));
  } catch (error) {
    signal.throwIfAborted();
    if (timer.aborted) return { text: `[Could not look: it took longer than ${lookMs / 1000} s.]` };
    return { text: `[Could not look: ${error instanceof Error ? error.message : String(error)}]` };
  } finally {
    both.removeEventListener("abort", stop);
  }
}

const recentTurns = 3;

function recentTools(messages: AgentState["messages"]): string[] {
  const turns = messages.filter((message) => message.role === "assistant").slice(-recentTurns);
  return turns.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name));
}

function cut(observation: Observation, tokens: number): Observation {
  const size = estimateText(observation.text);
  if (size <= tokens) return observation;
  const head = observation.text.slice(0, Math.floor((observation.text.length * tokens) / size)).toWellFormed();
  return { ...observation, text: `${head}\n[… the rest of what is seen was left out: it is too long for the model …]` };
}

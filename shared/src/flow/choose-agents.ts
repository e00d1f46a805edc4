import type { AgentEntry, Agents } from "../core/agents.ts";
import { AppError } from "../core/errors.ts";
import { agentByName, findAgent, isAddress } from "./find-agent.ts";

/** The agents of a flow's run: `entries` are those it works with, `known` all that a name in its options can mean. */
export type ChosenAgents = { readonly entries: readonly AgentEntry[]; readonly known: readonly AgentEntry[] };

/**
 * The agents a flow works with: those the caller names, in that order, or else all that are no flows. Rejects with `invalid_input` for
 * one that nobody knows.
 */
export async function chooseAgents(
  wanted: readonly string[] | undefined,
  agents: Agents,
  signal: AbortSignal,
): Promise<ChosenAgents> {
  const known = await agents.list(signal);
  if (wanted === undefined) {
    const all = known.filter(({ kind }) => kind === "agent");
    if (all.length === 0) throw new AppError("unavailable", "No agent can be asked at present.");
    return { entries: all, known };
  }
  const chosen: AgentEntry[] = [];
  for (const reference of wanted) {
    const isNew = isAddress(reference) && agentByName(reference, known) === undefined;
    const agent = isNew ? await agents.read(reference, signal) : findAgent(reference, known).agent;
    chosen.push({ ...agent, name: ownName(agent, [...chosen, ...known]) });
  }
  return { entries: chosen, known };
}

/** A name that means this agent only: an agent that was read from its address may be called like another. */
function ownName({ name, url }: AgentEntry, others: readonly AgentEntry[]): string {
  const isFree = (candidate: string) => others.every((other) => other.url === url || other.name !== candidate);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (isFree(candidate)) return candidate;
  }
}

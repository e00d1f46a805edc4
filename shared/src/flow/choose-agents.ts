import type { AgentEntry, Agents } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import { agentByName, findAgent, isAddress } from "./find-agent.ts";

/**
 * The agents of a flow's run: `entries` are those it works with, `known` those that names in its
 * options may refer to.
 */
export type ChosenAgents = { readonly entries: readonly AgentEntry[]; readonly known: readonly AgentEntry[] };

/**
 * The agents a flow works with: those the caller names, in that order, otherwise all that are not
 * flows; of the flow's `only` ones, if it has any, those that are there. Rejects with
 * `invalid_input` for an unknown agent.
 */
export async function chooseAgents(
  wanted: readonly string[] | undefined,
  agents: Agents,
  signal: AbortSignal,
  only: readonly string[] = [],
): Promise<ChosenAgents> {
  const all = await agents.list(signal);
  const own = all.filter(({ name }) => only.includes(name));
  const known = own.length > 0 ? own : all;
  if (wanted === undefined) {
    const entries = known.filter(({ kind }) => kind === "agent");
    if (entries.length === 0) throw new AppError("unavailable", "No agent can be asked at present.");
    return { entries, known };
  }
  const chosen: AgentEntry[] = [];
  for (const reference of wanted) {
    const isNew = isAddress(reference) && agentByName(reference, known) === undefined;
    const agent = isNew ? await agents.read(reference, signal) : findAgent(reference, known).agent;
    chosen.push({ ...agent, name: ownName(agent, [...chosen, ...known]) });
  }
  return { entries: chosen, known };
}

/**
 * A name for this agent only, since an agent read from its address may have the same name as
 * another.
 */
function ownName({ name, url }: AgentEntry, others: readonly AgentEntry[]): string {
  const isFree = (candidate: string) => others.every((other) => other.url === url || other.name !== candidate);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (isFree(candidate)) return candidate;
  }
}

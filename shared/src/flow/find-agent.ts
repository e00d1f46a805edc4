import type { AgentEntry, Agents } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";

/** The agent found; `reason` says why it was chosen, unless its name makes that obvious. */
export type FoundAgent = { readonly agent: AgentEntry; readonly reason?: string };

/**
 * The agent that a reference means: its name, title or address in any case, or `skill:` and a
 * skill's id or some words. Of several that fit equally well, the first. Throws `invalid_input`,
 * listing the known agents.
 */
export function findAgent(reference: string, agents: readonly AgentEntry[]): FoundAgent {
  const found = meantAgent(reference, agents);
  if (found !== undefined) return found;
  const there = agents.map(({ name }) => name).join(", ") || "none";
  const skill = wantedSkill(reference);
  const wanted = skill === undefined ? `There is no agent "${reference}"` : `No agent has a skill like "${skill}"`;
  throw new AppError("invalid_input", `${wanted}; there are: ${there}.`);
}

/** The one of these agents that a name, title, address or `skill:` text means, as in `Flow.ask`. */
export function meantAgent(reference: string, agents: readonly AgentEntry[]): FoundAgent | undefined {
  const named = agentByName(reference, agents);
  if (named !== undefined) return { agent: named };
  const skill = wantedSkill(reference);
  return skill === undefined ? undefined : agentBySkill(skill, agents);
}

function wantedSkill(reference: string): string | undefined {
  return /^skill:(.*)$/is.exec(reference.trim())?.[1]?.trim();
}

/**
 * The agent that a flow's caller means: by name any known agent or flow; by skills one of the
 * agents the flow works with.
 */
export function namedAgent(
  reference: string,
  { entries, known }: { readonly entries: readonly AgentEntry[]; readonly known: readonly AgentEntry[] },
): FoundAgent {
  const named = agentByName(reference, entries) ?? agentByName(reference, known);
  return named === undefined ? findAgent(reference, entries) : { agent: named };
}

/** Whether a reference is an address, whose agent need not be in the registry. */
export function isAddress(reference: string): boolean {
  return /^https?:\/\//i.test(reference.trim());
}

/** The agent with this name, title or address; dashes, underscores, blanks and case are ignored. */
export function agentByName(reference: string, agents: readonly AgentEntry[]): AgentEntry | undefined {
  const wanted = plain(reference);
  return (
    agents.find(({ name }) => plain(name) === wanted) ??
    agents.find(({ title }) => plain(title) === wanted) ??
    agents.find(({ url }) => address(url) === address(reference))
  );
}

/** The agent whose skills fit these words best; undefined if none of the words occurs. */
function agentBySkill(words: string, agents: readonly AgentEntry[]): FoundAgent | undefined {
  const exact = agents.find(({ skills }) => skills.some(({ id }) => plain(id) === plain(words)));
  if (exact !== undefined) return { agent: exact, reason: `${exact.name} has the skill ${words.trim()}.` };
  const wanted = wordsOf(words);
  const fits = agents.flatMap((agent) => agent.skills.map((skill) => ({ agent, skill, ...fit(wanted, agent, skill) })));
  const best = fits.reduce<(typeof fits)[number] | undefined>(
    (one, other) => (other.score > (one?.score ?? 0) ? other : one),
    undefined,
  );
  if (best === undefined) return undefined;
  const { agent, skill, matched } = best;
  return { agent, reason: `${agent.name}'s skill "${skill.name}" fits best: ${matched.join(", ")}.` };
}

/** How well a skill fits: each word counts once, in the field that weighs most. */
function fit(wanted: readonly string[], agent: AgentEntry, skill: AgentEntry["skills"][number]) {
  const places: readonly (readonly [weight: number, words: readonly string[]])[] = [
    [4, wordsOf(skill.id)],
    [3, wordsOf(`${skill.name} ${skill.tags.join(" ")}`)],
    [1, wordsOf(`${skill.description} ${agent.description}`)],
  ];
  const worth = (word: string) => places.find(([, words]) => words.includes(word))?.[0] ?? 0;
  const matched = wanted.filter((word) => worth(word) > 0);
  return { score: matched.reduce((sum, word) => sum + worth(word), 0), matched };
}

function plain(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "-");
}

function address(url: string): string {
  return url.trim().replace(/\/+$/, "");
}

/** Words that say nothing about a skill. */
const empty = new Set(["a", "an", "and", "for", "from", "in", "of", "on", "or", "the", "to", "with"]);

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => !empty.has(word)))];
}

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

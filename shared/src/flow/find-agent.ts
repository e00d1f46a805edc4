import type { AgentEntry } from "../core/agent.ts";
import { AppError } from "../core/errors.ts";
import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";

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
  return withoutLastSlashes(url.trim());
}

/** Words that say nothing about a skill. */
const empty = new Set(["a", "an", "and", "for", "from", "in", "of", "on", "or", "the", "to", "with"]);

function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => !empty.has(word)))];
}

import type { Fault } from "../../core/events/ask-outcome.ts";
import type { JournalEvent } from "../../core/events/events.ts";
import type { Run, StepContext } from "../../core/runs/run.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import type { Ask, AskRequest, ResolvedAgent } from "./ask.ts";
import { type Attempt, attempted, retryDurably } from "./attempt.ts";
import type { PeerAddress, Peers } from "./peers.ts";

/**
 * An ask that has begun: refused before anything was sent, or with the attempt to resolve the
 * agent.
 */
export type StartedAsk = { readonly ask: Ask; readonly refused?: Fault; readonly resolved?: Attempt<ResolvedAgent> };

/**
 * Begins an ask. Its intent is recorded as `agent-asked` before anything is sent, with everything
 * needed to find its task again. A task that has passed through too many agents is refused with
 * `hop_limit` without contacting the agent.
 */
export async function beginAsk(run: Run, request: AskRequest, peers: Peers): Promise<StartedAsk> {
  const begin = async (step: StepContext) => {
    const { hops, patienceMs } = peers.bounds;
    const facts = { askId: step.key, url: request.agent.url, patienceMs, startedAt: step.now() };
    step.emit(asked(request, step.key));
    const refused = request.hops + 1 > hops ? tooManyHops(request, hops) : null;
    const met = refused === null ? await resolveAgent(request.agent, peers, step) : null;
    return { ...facts, refused, met };
  };
  const begun = await run.step("ask", begin, { effect: "pure" });
  // Journals keep the attempt as `met`.
  const { askId, url, patienceMs, startedAt, refused, met: resolved } = begun;
  const { deadlineMs, agent } = request;
  const endsAt = deadlineMs === undefined ? undefined : startedAt + deadlineMs;
  const ask = { ...request, agent: { name: agent.name, url }, askId, patienceMs, endsAt };
  return { ask, ...(refused !== null && { refused }), ...(resolved !== null && { resolved }) };
}

function tooManyHops({ agent, hops }: AskRequest, most: number): Fault {
  const message = `The task has passed through ${hops} agents, and ${most} is the most: ${agent.name} was not asked.`;
  return { code: "hop_limit", message };
}

/** Retries an agent that could not be resolved at first. */
export function resolveAgain(run: Run, ask: Ask, peers: Peers): Promise<Attempt<ResolvedAgent>> {
  const patience = { ...ask, patienceMs: ask.resolveMs ?? ask.patienceMs };
  return retryDurably(run, patience, peers, () =>
    run.step("meet", (step) => resolveAgent(ask.agent, peers, step), { effect: "pure" }),
  );
}

function resolveAgent(address: PeerAddress, peers: Peers, step: StepContext): Promise<Attempt<ResolvedAgent>> {
  return attempted(step, async () => {
    const { card, ours } = await peers.client(address, step.signal);
    const protocol = card.supportedInterfaces[0]?.protocolVersion ?? "";
    return { title: sanitizeLine(card.name, 60) || address.name, ours, protocol: sanitizeLine(protocol, 20) };
  });
}

function asked({ agent, parts, contextId, hops }: AskRequest, askId: string) {
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  return {
    type: "agent-asked",
    askId,
    agent: agent.name,
    url: agent.url,
    text: sanitizeLine(text),
    parts,
    ...(contextId !== undefined && { contextId }),
    hops: hops + 1,
  } satisfies JournalEvent;
}

import { askAgent } from "../a2a/ask/ask-agent.ts";
import type { Peers } from "../a2a/ask/peers.ts";
import type { AgentEntry, Agents } from "../core/agent.ts";
import { AppError, type ErrorCode, errorCodes } from "../core/errors.ts";
import type { AskOutcome } from "../core/events/ask-outcome.ts";
import type { FlowEvent } from "../core/events/events.ts";
import type { AskMessage, AskOptions } from "../core/flow.ts";
import type { UserMessage } from "../core/message.ts";
import type { Run } from "../core/runs/run.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { openWeb } from "../core/taken-in.ts";
import { agentByName, isAddress, namedAgent } from "./find-agent.ts";
import { type FlowState, spend } from "./flow-state.ts";
import { heard } from "./receive-caller-messages.ts";
import { type Reservation, release, reserve } from "./reserve.ts";

/** What asking needs of the process. */
export type AskDeps = { readonly agents: Agents; readonly peers: Peers };

/** How often a transient failure of an agent is retried, and after how many milliseconds. */
const retries = 1;
const pauseMs = 1_000;

/** A flow's ask: finds the agent, reserves its budget, asks, and counts the usage. */
export async function ask(
  run: Run,
  state: FlowState,
  reference: string,
  { text, parts = [], settings }: AskMessage,
  options: AskOptions,
  deps: AskDeps,
): Promise<AskOutcome> {
  const { deadlineMs, contextId, isAnswer = false, passMessages = false } = options;
  const { outputSchema = isAnswer ? state.outputSchema : undefined } = options;
  const agent = await resolveAgent(run, state, reference, deps);
  for (let attempt = 0; ; attempt++) {
    const reservation = await reserve(run, state, deadlineMs);
    const request = {
      agent: { name: agent.name, url: agent.url },
      // Without any text, what came is passed on as it is.
      parts: text === "" && parts.length > 0 ? parts : [{ type: "text" as const, text }, ...parts],
      ...(settings !== undefined && { flow: settings }),
      hops: state.hops,
      said: [...state.said],
      takenIn: [...state.takenIn],
      ...reservation,
      ...(contextId !== undefined && { contextId }),
      ...(outputSchema !== undefined && { outputSchema: outputSchema as NonNullable<AgentInput["outputSchema"]> }),
      ...(isAnswer && { isAnswer }),
      ...(passMessages && { passedOn: (message: UserMessage) => heard(state, message) }),
    };
    const asked = await askAgent(run, request, deps.peers).finally(() => release(state, reservation));
    const outcome = withLimit(asked, reservation);
    spend(state, outcome.usage);
    for (const source of [openWeb, ...(outcome.takenIn ?? [outcome.agent])]) state.takenIn.add(source);
    if (isAnswer && outcome.state === "completed") state.answerData = outcome.data;
    if (!mayPass(outcome) || attempt === retries) return agent.kind === "flow" ? withoutMemory(outcome) : outcome;
    // The same ask comes once more: what the flow keeps for those after it stays theirs.
    state.expected++;
    await run.sleep(pauseMs);
  }
}

/**
 * An agent that was given all the time its task had left met the task's limit, not one of its own.
 */
function withLimit(outcome: AskOutcome, { deadlineMs, budget }: Reservation): AskOutcome {
  if (outcome.state !== "timed-out" || deadlineMs !== budget.wallMs) return outcome;
  const message = `${outcome.agent} did not answer within the ${Math.round(deadlineMs / 100) / 10} s that the task had left.`;
  return { ...outcome, error: { code: "time_limit", message } };
}

/** A flow reads only excerpts of its newest tasks in a conversation. */
function withoutMemory({ remembers: _, ...outcome }: AskOutcome): AskOutcome {
  return outcome;
}

async function resolveAgent(
  run: Run,
  { begun }: FlowState,
  reference: string,
  { agents }: AskDeps,
): Promise<AgentEntry> {
  if (isAddress(reference) && agentByName(reference, [...begun.entries, ...begun.known]) === undefined) {
    return run.step("read card", ({ signal }) => readCard(reference, agents, signal), { effect: "pure" });
  }
  const { agent, reason } = namedAgent(reference, begun);
  if (reason !== undefined) {
    const data = { wanted: reference, agent: agent.name, reason };
    run.emit({ type: "agent-chosen", note: reason, data } satisfies FlowEvent);
  }
  return agent;
}

/** What the card at an address says. If it cannot be read, the ask tries again and tells why. */
async function readCard(url: string, agents: Agents, signal: AbortSignal): Promise<AgentEntry> {
  try {
    return await agents.read(url, signal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { name: url, title: url, description: "", skills: [], url, kind: "agent" };
  }
}

/**
 * Whether a retry may succeed: only after an error that the table calls retryable, not after our
 * own deadline, and not if the agent was unavailable, since the ask has already waited for it.
 */
function mayPass({ state, error }: AskOutcome): boolean {
  return state === "failed" && error !== undefined && errorCodes[error.code].retryable && !away.includes(error.code);
}

/** An outcome in a sentence. */
export function outcomeText({ agent, state, error }: AskOutcome): string {
  const words = state === "timed-out" ? "did not answer in time" : state;
  return `${agent} ${words}${error === undefined ? "" : `: ${error.message}`}`;
}

/** The errors that the same ask would meet again. */
const lasting: readonly ErrorCode[] = [
  "hop_limit",
  "unauthorized",
  "forbidden",
  "rejected",
  "unsupported",
  "too_large",
];

/**
 * The errors of an agent that stayed unreachable or refused work until the ask stopped waiting for
 * it.
 */
const away: readonly ErrorCode[] = ["unavailable", "storage_unavailable"];

/** Whether the same ask would fail the same way again, or would only wait again. */
export function isFinal({ state, error }: Pick<AskOutcome, "state" | "error">): boolean {
  return state !== "completed" && error !== undefined && [...lasting, ...away].includes(error.code);
}

import type { JournalEvent } from "../../core/events.ts";
import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/run.ts";
import type { Ask, Child, Met } from "./ask.ts";
import { childState, isOver } from "./child-state.ts";
import { type Collected, readResult } from "./collect.ts";
import { inTime } from "./in-time.ts";
import { outgoingParts } from "./outgoing-parts.ts";
import type { Peers } from "./peers.ts";
import { hasFiles } from "./take-files.ts";
import { patiently, type Tried, tried } from "./tried.ts";

/** An agent of ours has this long to be done with a task at once, which then needs no following. Milliseconds. */
const quickMs = 50;

/** Where a message got to: a task, with what came of it where that was known at once, or an answer without one. */
export type Sent = { readonly taskId: string; readonly contextId: string; readonly reply?: Collected };

/**
 * Sends the ask's message in short steps, always under the ask's own id: an agent of ours takes it for the same one however often it
 * comes, so it is sent again until it got there; to any other it is sent once, and rejects with `interrupted` when the process died meanwhile.
 */
export function sendAsk(run: Run, ask: Ask, met: Met, peers: Peers): Promise<Tried<Sent>> {
  const { budget, outputSchema, contextId, flow } = ask;
  const attempt = () =>
    run.step(
      "send",
      async (step): Promise<Tried<Sent>> => {
        const sent = await tried(step, async () => {
          const signal = inTime(step, ask.endsAt);
          const client = await peers.client(ask.agent, signal);
          const message = {
            messageId: ask.askId,
            parts: await outgoingParts(partsFor(ask, met), peers.artifacts),
            hops: ask.hops + 1,
            ...(contextId !== undefined && { contextId }),
            ...(ask.said && { said: ask.said }),
            ...(ask.given && { given: ask.given }),
            ...(ask.takenIn && { takenIn: ask.takenIn }),
            ...(budget !== undefined && { budget }),
            ...(outputSchema !== undefined && { outputSchema }),
            ...(flow !== undefined && { flow }),
          };
          const { task, isReply } = await client.submit(message, { signal, waitMs: quickMs });
          const ids = { taskId: task.id.slice(0, 256), contextId: task.contextId.slice(0, 256) };
          const isDone = client.ours && isOver(childState(task)) && !hasFiles(task);
          if (!isReply && !isDone) return ids;
          return { ...ids, reply: await readResult(task, ask.agent, client, peers, step.signal) };
        });
        if ("value" in sent) step.emit(accepted(ask, sent.value));
        return sent;
      },
      { effect: met.ours ? "idempotent" : "once" },
    );
  return met.ours ? patiently(run, ask, peers, attempt) : attempt();
}

/** Sends what a person answered to the child's question, under an id of its own that is the same at every sending. */
export function sendAnswer(run: Run, child: Child, n: number, parts: readonly Part[], peers: Peers) {
  const { ask, taskId, contextId, ours } = child;
  const attempt = () =>
    run.step(
      "answer",
      (step) =>
        tried(step, async () => {
          const signal = inTime(step, ask.endsAt);
          const client = await peers.client(ask.agent, signal);
          const message = { messageId: `${ask.askId}/answer-${n}`, taskId, contextId };
          const outgoing = await outgoingParts(parts, peers.artifacts);
          await client.submit({ ...message, parts: outgoing }, { signal });
          return null;
        }),
      { effect: ours ? "idempotent" : "once" },
    );
  return ours ? patiently(run, ask, peers, attempt) : attempt();
}

/** The parts of an ask. An agent that is not of ours knows nothing of our extension for the form of an answer: it is told in words. */
function partsFor({ parts, outputSchema }: Ask, { ours }: Met): readonly Part[] {
  if (ours || outputSchema === undefined) return parts;
  const wanted = `Answer with JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(outputSchema)}`;
  return [...parts, { type: "text", text: wanted }];
}

function accepted({ askId, agent }: Ask, { taskId, contextId }: Sent) {
  return { type: "agent-accepted", askId, agent: agent.name, taskId, contextId } satisfies JournalEvent;
}

import type { Part as WirePart } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { JournalEvent } from "../../core/events.ts";
import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/run.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import type { Ask, RemoteTask, ResolvedAgent } from "./ask.ts";
import { childState, isOver } from "./ask.ts";
import { type Attempt, attempted, inTime, retryDurably } from "./attempt.ts";
import { type Collected, readResult } from "./collect.ts";
import type { Peers } from "./peers.ts";
import { hasFiles } from "./take-files.ts";

/**
 * An agent of ours has this long to be done with a task at once, which then needs no following.
 * Milliseconds.
 */
const quickMs = 50;

/**
 * Where a message got to: a task, with what came of it where that was known at once, or an answer
 * without one.
 */
export type Sent = { readonly taskId: string; readonly contextId: string; readonly reply?: Collected };

/**
 * Sends the ask's message in short steps, always under the ask's own id: an agent of ours takes it
 * for the same one however often it comes, so it is sent again until it got there; to any other it
 * is sent once, and rejects with `interrupted` when the process died meanwhile.
 */
export function sendAsk(run: Run, ask: Ask, met: ResolvedAgent, peers: Peers): Promise<Attempt<Sent>> {
  const { budget, outputSchema, contextId, flow } = ask;
  const attempt = () =>
    run.step(
      "send",
      async (step): Promise<Attempt<Sent>> => {
        const sent = await attempted(step, async () => {
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
  return met.ours ? retryDurably(run, ask, peers, attempt) : attempt();
}

/**
 * Sends what a person answered to the child's question, under an id of its own that is the same at
 * every sending.
 */
export function sendAnswer(run: Run, child: RemoteTask, n: number, parts: readonly Part[], peers: Peers) {
  const { ask, taskId, contextId, ours } = child;
  const attempt = () =>
    run.step(
      "answer",
      (step) =>
        attempted(step, async () => {
          const signal = inTime(step, ask.endsAt);
          const client = await peers.client(ask.agent, signal);
          const message = { messageId: `${ask.askId}/answer-${n}`, taskId, contextId };
          const outgoing = await outgoingParts(parts, peers.artifacts);
          await client.submit({ ...message, parts: outgoing }, { signal });
          return null;
        }),
      { effect: ours ? "idempotent" : "once" },
    );
  return ours ? retryDurably(run, ask, peers, attempt) : attempt();
}

/**
 * The parts of an ask. An agent that is not of ours knows nothing of our extension for the form of
 * an answer: it is told in words.
 */
function partsFor({ parts, outputSchema }: Ask, { ours }: ResolvedAgent): readonly Part[] {
  if (ours || outputSchema === undefined) return parts;
  const wanted = `Answer with JSON that fits this JSON Schema, and nothing else:\n${JSON.stringify(outputSchema)}`;
  return [...parts, { type: "text", text: wanted }];
}

function accepted({ askId, agent }: Ask, { taskId, contextId }: Sent) {
  return { type: "agent-accepted", askId, agent: agent.name, taskId, contextId } satisfies JournalEvent;
}

/**
 * Bytes of files that one message takes along: an agent of ours takes requests of 10 MB, and base64
 * adds a third.
 */
const mostBytes = 7 * 1024 * 1024;

/**
 * Parts as a message carries them, files inline. Rejects with `too_large`, or `not_found` for a
 * file whose content is gone.
 */
async function outgoingParts(parts: readonly Part[], artifacts: ArtifactStore): Promise<WirePart[]> {
  const files = parts.flatMap((part) => (part.type === "file" ? [part.size] : []));
  if (files.reduce((sum, size) => sum + size, 0) > mostBytes) {
    throw new AppError("too_large", "The files are larger than the 7 MB that a message to another agent can carry.");
  }
  return Promise.all(parts.map((part) => outgoingPart(part, artifacts)));
}

async function outgoingPart(part: Part, artifacts: ArtifactStore): Promise<WirePart> {
  const plain = { metadata: undefined, filename: "", mediaType: part.mediaType ?? "" };
  switch (part.type) {
    case "text":
      return { ...plain, content: { $case: "text", value: part.text } };
    case "data":
      return { ...plain, content: { $case: "data", value: part.data } };
    case "url":
      return { ...plain, content: { $case: "url", value: part.url }, filename: part.name ?? "" };
    case "file": {
      const content = await artifacts.get(part.sha256);
      if (content === undefined) throw new AppError("not_found", `The file ${part.name} is not here any more.`);
      return { ...plain, content: { $case: "raw", value: Buffer.from(await content.bytes()) }, filename: part.name };
    }
  }
}

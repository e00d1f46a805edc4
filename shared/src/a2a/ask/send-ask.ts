import type { Part as WirePart } from "@a2a-js/sdk";
import { AppError } from "../../core/errors.ts";
import type { JournalEvent } from "../../core/events/events.ts";
import type { Part } from "../../core/message.ts";
import type { Run } from "../../core/runs/run.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import type { HitlResponse } from "../hitl.ts";
import { withFittingType } from "../media-types.ts";
import type { Ask, RemoteTask, ResolvedAgent } from "./ask.ts";
import { isOver, remoteState } from "./ask.ts";
import { type Attempt, attempted, inTime, retryDurably } from "./attempt.ts";
import { type Collected, readResult } from "./collect.ts";
import type { Peers } from "./peers.ts";
import { hasFiles } from "./take-files.ts";

/**
 * How long to wait for an agent of ours to finish a task at once, so that it needs no following.
 * Milliseconds.
 */
const quickMs = 50;

/**
 * What a message led to: a task, with its result if that was known at once, or a reply without a
 * task.
 */
export type Sent = { readonly taskId: string; readonly contextId: string; readonly reply?: Collected };

/**
 * Sends the ask's message in short steps, always under the ask's own id. An agent of ours
 * recognizes duplicates, so the message is resent until it is delivered. To any other agent it is
 * sent once; rejects with `interrupted` if the process died meanwhile.
 */
export function sendAsk(run: Run, ask: Ask, resolved: ResolvedAgent, peers: Peers): Promise<Attempt<Sent>> {
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
            parts: await outgoingParts(partsFor(ask, resolved), peers.artifacts),
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
          const ids = { taskId: task.id.slice(0, 256), contextId: task.contextId.slice(0, 1024) };
          const isDone = client.ours && isOver(remoteState(task)) && !hasFiles(task);
          if (!isReply && !isDone) return ids;
          const result = await readResult(task, ask.agent, client, peers, step.signal);
          return { ...ids, reply: { ...result, ...(isReply && { isReply }) } };
        });
        if ("value" in sent) step.emit(accepted(ask, sent.value));
        return sent;
      },
      { effect: resolved.ours ? "idempotent" : "once" },
    );
  return resolved.ours ? retryDurably(run, ask, peers, attempt) : attempt();
}

/** What a person says to the other agent's task. */
type Further = { readonly parts: readonly Part[]; readonly hitl?: HitlResponse };

/** Sends a person's answer to the other agent's question. */
export function sendAnswer(run: Run, remote: RemoteTask, n: number, answer: Further, peers: Peers) {
  return sendFurther(run, remote, { ...answer, kind: "answer", n }, peers);
}

/**
 * Sends a message of the person's to the other agent while it works. An agent of ours that asks
 * something refuses it with `conflict`.
 */
export function sendMessage(run: Run, remote: RemoteTask, n: number, message: Further, peers: Peers) {
  return sendFurther(run, remote, { ...message, kind: "message", n }, peers);
}

/** The message has its own id, which is the same on every send. */
function sendFurther(
  run: Run,
  remote: RemoteTask,
  { parts, hitl, kind, n }: Further & { readonly kind: "answer" | "message"; readonly n: number },
  peers: Peers,
) {
  const { ask, taskId, contextId, ours } = remote;
  const attempt = () =>
    run.step(
      kind,
      (step) =>
        attempted(step, async () => {
          const signal = inTime(step, ask.endsAt);
          const client = await peers.client(ask.agent, signal);
          const ids = { messageId: `${ask.askId}/${kind}-${n}`, taskId, contextId };
          const message = { ...ids, ...(kind === "message" && { answers: false as const }) };
          const outgoing = await outgoingParts(parts, peers.artifacts);
          await client.submit({ ...message, parts: outgoing, ...(hitl && { hitl }) }, { signal });
          return null;
        }),
      { effect: ours ? "idempotent" : "once" },
    );
  return ours ? retryDurably(run, ask, peers, attempt) : attempt();
}

/**
 * The parts of an ask. An agent of another system does not know our extension for the output
 * schema, so the schema is added as text.
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
 * Most bytes of files in one message: an agent of ours accepts requests of 10 MB, and base64 adds a
 * third.
 */
const maxBytes = 7 * 1024 * 1024;

/**
 * Converts parts for a message, with files inline. Rejects with `too_large`, or with `not_found` if
 * a file's content is gone.
 */
async function outgoingParts(parts: readonly Part[], artifacts: ArtifactStore): Promise<WirePart[]> {
  const files = parts.flatMap((part) => (part.type === "file" ? [part.size] : []));
  if (files.reduce((sum, size) => sum + size, 0) > maxBytes) {
    throw new AppError("too_large", "The files are larger than the 7 MB that a message to another agent can carry.");
  }
  return Promise.all(parts.map(async (part) => withFittingType(await outgoingPart(part, artifacts))));
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

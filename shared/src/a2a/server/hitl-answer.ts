import type { Message } from "@a2a-js/sdk";
import type { IncomingMessage } from "../../core/message.ts";
import { terminalStatuses } from "../../core/runs/engine.ts";
import type { Sender } from "../../runs/accept-message.ts";
import { hitlExtension } from "../extensions.ts";
import { hitlRequest, hitlResponse, mismatch, wordsOf } from "../hitl.ts";
import { FieldViolationsError } from "../wire-error.ts";
import { checked } from "./request-schema.ts";
import { ownTask, type TaskDeps } from "./task-access.ts";

const field = `message.metadata.${hitlExtension}`;

/**
 * A message that answers in the form of the HITL extension, with the words that mean the same to
 * the run in place of its text; any other message unchanged. Throws FieldViolationsError for an
 * answer to anything but what the task asks now. A message that the task has already is not judged
 * again.
 */
export async function inPlainWords(
  deps: TaskDeps,
  { messageId, taskId, extensions }: Message,
  incoming: IncomingMessage,
  { principal, dedupeMs, hitl }: Sender & { readonly hitl: boolean },
): Promise<IncomingMessage> {
  const given = incoming.metadata?.[hitlExtension];
  if (given === undefined) return incoming;
  if (!hitl || !extensions.includes(hitlExtension))
    throw refused("needs the extension in A2A-Extensions and in the message's extensions");
  if (taskId === "") throw refused("is an answer: the message has to name its task");
  const response = checked(hitlResponse, given);
  const run = await ownTask(deps, taskId, principal);
  const projection = await deps.projections.current(run);
  const isKnown = dedupeMs !== 0 && projection.history.some((entry) => entry.messageId === messageId);
  if (!isKnown && !terminalStatuses.includes(run.status)) {
    const why = mismatch(hitlRequest(run.id, projection), response);
    if (why !== undefined) throw refused(why);
  }
  const others = incoming.parts.filter(({ type }) => type !== "text");
  return { ...incoming, parts: [{ type: "text", text: wordsOf(response) }, ...others] };
}

function refused(description: string): FieldViolationsError {
  return new FieldViolationsError([{ field, description }]);
}

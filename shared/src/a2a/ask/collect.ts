import { type Artifact, Role, type Task } from "@a2a-js/sdk";
import * as z from "zod";
import { type ErrorCode, errorCodes } from "../../core/errors.ts";
import type { AskOutcome, Fault } from "../../core/events/ask-outcome.ts";
import { deepestJson, isTooDeep, type Json } from "../../core/json.ts";
import type { Run } from "../../core/runs/run.ts";
import { sanitizeLine } from "../../core/text/sanitize.ts";
import type { A2aClient } from "../client/client.ts";
import { messageText } from "../client/task-update.ts";
import { metadataKeys } from "../extensions.ts";
import { taskTakenIn, taskUsage } from "../task-metadata.ts";
import type { RemoteTask } from "./ask.ts";
import { remoteState } from "./ask.ts";
import { type Attempt, attempted, retryDurably } from "./attempt.ts";
import { answerSources, peerArtifacts } from "./peer-artifacts.ts";
import type { PeerAddress, Peers } from "./peers.ts";
import { takeFiles } from "./take-files.ts";

/** The result of a task at another agent. */
export type Collected = Omit<AskOutcome, "agent" | "taskId" | "contextId">;

/**
 * Reads the result of a task that has ended and stores its files in our artifact store. Idempotent.
 */
export function collect(run: Run, remote: RemoteTask, peers: Peers): Promise<Attempt<Collected>> {
  const { ask, taskId } = remote;
  return retryDurably(run, ask, peers, () =>
    run.step("collect", (step) =>
      attempted(step, async () => {
        const client = await peers.client(ask.agent, step.signal);
        const task = await client.get(taskId, { signal: step.signal });
        return readResult(task, ask.agent, client, peers, step.signal);
      }),
    ),
  );
}

/** The result of an ended task, within bounds. */
export async function readResult(
  task: Task,
  address: PeerAddress,
  { ours }: Pick<A2aClient, "ours">,
  peers: Peers,
  signal: AbortSignal,
): Promise<Collected> {
  const ended = remoteState(task);
  const state = ended === "completed" || ended === "canceled" || ended === "rejected" ? ended : "failed";
  const { files, fault: missed } = await takeFiles(task, address, peers, signal);
  const { text, data, fault: cut } = answerOf(task);
  const { artifacts, fault: dropped } = peerArtifacts(task, files);
  const usage = taskUsage(task);
  const takenIn = ours ? taskTakenIn(task) : undefined;
  const error = state === "completed" ? (cut ?? missed ?? dropped) : faultIn(task, address.name, state);
  return {
    state,
    answer: text,
    ...(data !== undefined && { data }),
    files: [...files.values()],
    ...(artifacts.length > 0 && { artifacts }),
    ...(takenIn !== undefined && { takenIn }),
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error }),
  };
}

const told = z.object({ code: z.enum(Object.keys(errorCodes) as ErrorCode[]), message: z.string() });

/**
 * Why a task did not complete: the agent's message, with the error code if it is an agent of ours.
 */
function faultIn(task: Task, name: string, state: "failed" | "canceled" | "rejected"): Fault {
  const said = sanitizeLine(messageText(task.status?.message), 1_000);
  const error = told.safeParse(task.status?.message?.metadata?.[metadataKeys.error]).data;
  const usual: ErrorCode = state === "rejected" ? "rejected" : "task_failed";
  return { code: error?.code ?? usual, message: said || `${name} ended its task as ${state} and did not say why.` };
}

/** Most characters of an answer, and of its data as JSON. */
const maxCharacters = 256 * 1024;

/** Another agent's answer: text and possibly data. `fault` is set if part of it was too large. */
export type TaskAnswer = { readonly text: string; readonly data?: Json; readonly fault?: Fault };

/**
 * The answer of a task: its artifact of that name, else the text of all its artifacts, else the
 * agent's last message.
 */
export function answerOf(task: Task): TaskAnswer {
  const sources = answerSources(task);
  const text = sources.map(artifactText).filter(Boolean).join("\n") || lastWords(task);
  const data = sources.flatMap(({ parts }) =>
    parts.flatMap(({ content }) => (content?.$case === "data" ? [content.value as Json] : [])),
  )[0];
  const isLong = text.length > maxCharacters;
  const isDeep = isTooDeep(data);
  const isHuge = data !== undefined && !isDeep && JSON.stringify(data).length > maxCharacters;
  const what = [...(isLong ? ["text"] : []), ...(isHuge ? ["data"] : [])].join(" and ");
  const message = isDeep
    ? `The data of the answer is nested deeper than the ${deepestJson} levels that are taken.`
    : `The ${what} of the answer is longer than the ${maxCharacters} characters that are taken.`;
  return {
    text: (isLong ? `${text.slice(0, maxCharacters)}\n[cut off]` : text).toWellFormed(),
    ...(data !== undefined && !isHuge && !isDeep && { data }),
    ...((what !== "" || isDeep) && { fault: { code: "too_large" as const, message } }),
  };
}

/**
 * The joined text parts of one artifact: an agent that streams sends its answer in pieces, which
 * may end in mid-word.
 */
function artifactText({ parts }: Artifact): string {
  return parts.flatMap(({ content }) => (content?.$case === "text" ? [content.value] : [])).join("");
}

function lastWords({ status, history }: Task): string {
  const said = messageText(status?.message);
  return said || messageText(history.findLast(({ role }) => role === Role.ROLE_AGENT));
}

import type { Task } from "@a2a-js/sdk";
import * as z from "zod";
import type { AskOutcome, Fault } from "../../core/ask-outcome.ts";
import { type ErrorCode, errorCodes } from "../../core/errors.ts";
import type { Run } from "../../core/run.ts";
import type { A2aClient } from "../client/client.ts";
import { messageText } from "../client/task-update.ts";
import { metadataKeys } from "../extensions.ts";
import { taskTakenIn } from "../task-taken-in.ts";
import { taskUsage } from "../task-usage.ts";
import { answerOf } from "./answer.ts";
import type { Child } from "./ask.ts";
import { childState } from "./child-state.ts";
import type { PeerAddress, Peers } from "./peers.ts";
import { shortLine } from "./short-line.ts";
import { takeFiles } from "./take-files.ts";
import { patiently, type Tried, tried } from "./tried.ts";

/** What a task at another agent came to. */
export type Collected = Omit<AskOutcome, "agent" | "taskId" | "contextId">;

/** Reads the result of a task that has ended, its files into our own store. Harmless to repeat. */
export function collect(run: Run, child: Child, peers: Peers): Promise<Tried<Collected>> {
  const { ask, taskId } = child;
  return patiently(run, ask, peers, () =>
    run.step("collect", (step) =>
      tried(step, async () => {
        const client = await peers.client(ask.agent, step.signal);
        const task = await client.get(taskId, { signal: step.signal });
        return readResult(task, ask.agent, client, peers, step.signal);
      }),
    ),
  );
}

/** What a task that has ended tells of its result, bounded. */
export async function readResult(
  task: Task,
  address: PeerAddress,
  { ours }: Pick<A2aClient, "ours">,
  peers: Peers,
  signal: AbortSignal,
): Promise<Collected> {
  const ended = childState(task);
  const state = ended === "completed" || ended === "canceled" || ended === "rejected" ? ended : "failed";
  const { files, fault: missed } = await takeFiles(task, address, peers, signal);
  const { text, data, fault: cut } = answerOf(task);
  const usage = taskUsage(task);
  const takenIn = ours ? taskTakenIn(task) : undefined;
  const error = state === "completed" ? (cut ?? missed) : faultIn(task, address.name, state);
  return {
    state,
    answer: text,
    ...(data !== undefined && { data }),
    files,
    ...(takenIn !== undefined && { takenIn }),
    ...(usage !== undefined && { usage }),
    ...(error !== undefined && { error }),
  };
}

const told = z.object({ code: z.enum(Object.keys(errorCodes) as ErrorCode[]), message: z.string() });

/** Why a task did not complete: its own sentence, with the code that an agent of ours tells beside it. */
function faultIn(task: Task, name: string, state: "failed" | "canceled" | "rejected"): Fault {
  const said = shortLine(messageText(task.status?.message), 1_000);
  const error = told.safeParse(task.status?.message?.metadata?.[metadataKeys.error]).data;
  const usual: ErrorCode = state === "rejected" ? "rejected" : "task_failed";
  return { code: error?.code ?? usual, message: said || `${name} ended its task as ${state} and did not say why.` };
}

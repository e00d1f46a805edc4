import { readEvent } from "../core/events/read-event.ts";
import { textOf } from "../core/message.ts";
import type { Engine, RunRecord } from "../core/runs/engine.ts";
import type { Run } from "../core/runs/run.ts";
import type { AgentInput, AgentOutput } from "../core/runs/task.ts";
import { foreignTask, type TakenIn } from "../core/taken-in.ts";
import type { StoredFile } from "../core/workspace.ts";

/** The conversation with a flow so far: its tasks as text, and the files of the newest. */
export type EarlierFlow = {
  readonly text: string;
  readonly files: readonly StoredFile[];
  /** What those tasks had taken in; absent in runs of earlier versions. */
  readonly takenIn?: TakenIn;
};

/**
 * How many tasks are included, characters of each message in them, and bytes of files passed along.
 */
const maxTasks = 5;
const longestText = 4_000;
const maxBytes = 4 * 1024 * 1024;

/**
 * What this flow has done earlier in this conversation. Only for use inside a step. Leaves out
 * tasks that did not complete.
 */
export async function earlierFlowTasks(
  { contextId, principal }: Run,
  kind: string,
  engine: Pick<Engine, "list" | "events">,
): Promise<EarlierFlow> {
  const { runs } = await engine.list({ contextId, principal, kind, statuses: ["completed"], limit: maxTasks });
  const [newest] = runs;
  const takenIn = await Promise.all(runs.map((run) => takenInBy(run, engine)));
  return {
    takenIn: [...new Set(takenIn.flat())],
    text: runs.toReversed().map(taskText).join("\n\n"),
    files: newest === undefined ? [] : await filesOf(newest, engine),
  };
}

/** What an earlier task had taken in: what its answer reports, otherwise anything. */
export async function takenInBy({ id }: RunRecord, engine: Pick<Engine, "events">): Promise<TakenIn> {
  const events = (await engine.events(id)).map(({ event }) => readEvent(event));
  const told = events.findLast((event) => event.type === "artifact-added" && event.takenIn !== undefined);
  return (told?.type === "artifact-added" ? told.takenIn : undefined) ?? [foreignTask];
}

function taskText({ input, output }: RunRecord): string {
  const { message } = input as AgentInput;
  const asked = textOf(message.parts);
  return `Asked: ${short(asked)}\nAnswered: ${short((output as AgentOutput).answer)}`;
}

function short(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)} [cut off]`;
}

/** The files a task passed on, as many as fit. */
async function filesOf({ id }: RunRecord, engine: Pick<Engine, "events">): Promise<StoredFile[]> {
  const events = (await engine.events(id)).map(({ event }) => readEvent(event));
  const added = events.flatMap((event) => (event.type === "artifact-added" ? event.parts : []));
  const newest = new Map(added.flatMap((part) => (part.type === "file" ? [[part.name, part] as const] : [])));
  const files: StoredFile[] = [];
  let room = maxBytes;
  for (const { sha256, name, mediaType, size } of newest.values()) {
    if (size > room) continue;
    room -= size;
    files.push({ sha256, name, mediaType, size });
  }
  return files;
}

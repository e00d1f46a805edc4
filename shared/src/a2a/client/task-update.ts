import { type Artifact, type Message, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import * as z from "zod";
import type { Part } from "../../core/message.ts";
import { type Progress, progressSchema } from "../../core/progress.ts";
import type { RunEvent } from "../../core/run.ts";
import type { TaskUsage } from "../../core/usage.ts";
import { metadataKeys } from "../extensions.ts";
import { fileFacts, taskUsage } from "../task-metadata.ts";

/** An event of the journal as a stream brought it; `at` is in milliseconds since 1970. */
export type JournalEntry = { readonly at: number; readonly event: RunEvent };

/**
 * What a stream of a task tells. `seq` is the place in the journal, and `journal` the event there,
 * where the agent is one of ours. The last update of a stream is always `end`, with the task as it
 * then stands.
 */
export type TaskUpdate =
  | { readonly kind: "task"; readonly seq?: number; readonly task: Task }
  | {
      readonly kind: "status";
      readonly seq?: number;
      readonly state: TaskState;
      readonly text: string;
      /** What the task has used by now, where the agent tells. */
      readonly usage?: TaskUsage;
      readonly journal?: JournalEntry;
    }
  | {
      readonly kind: "artifact";
      readonly seq?: number;
      readonly artifact: Artifact;
      readonly append: boolean;
      readonly lastChunk: boolean;
    }
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "end"; readonly task: Task };

const object = z.record(z.string(), z.unknown());
const journalEvent = z.object({ at: z.number(), event: z.looseObject({ type: z.string() }) });

/**
 * A frame of a stream as an update; undefined for a frame that says nothing this side understands.
 */
export function taskUpdate({ payload }: StreamResponse): TaskUpdate | undefined {
  switch (payload?.$case) {
    case "task":
      return { kind: "task", task: payload.value, ...seqIn(payload.value.metadata) };
    case "message":
      return { kind: "task", task: replyAsTask(payload.value) };
    case "artifactUpdate": {
      const { artifact, append, lastChunk, metadata } = payload.value;
      return artifact && { kind: "artifact", artifact, append, lastChunk, ...seqIn(metadata) };
    }
    case "statusUpdate": {
      const { status, metadata } = payload.value;
      const progress = progressSchema.safeParse(metadata?.[metadataKeys.progress]);
      if (progress.success) return { kind: "progress", progress: progress.data };
      const journal = journalEvent.safeParse(metadata?.[metadataKeys.event]);
      const usage = taskUsage({ metadata });
      return {
        kind: "status",
        state: status?.state ?? TaskState.TASK_STATE_UNSPECIFIED,
        text: messageText(status?.message),
        ...seqIn(metadata),
        ...(usage && { usage }),
        ...(journal.success ? { journal: journal.data as JournalEntry } : {}),
      };
    }
    default:
      return undefined;
  }
}

/**
 * The parts of an artifact of ours in the words of its journal event: stored files by hash again.
 */
export function artifactParts(artifact: Artifact): Part[] {
  return artifact.parts.flatMap(({ content, filename, mediaType, metadata }): Part[] => {
    const type = mediaType === "" ? {} : { mediaType };
    if (content?.$case === "text") return [{ type: "text", text: content.value, ...type }];
    if (content?.$case === "data") return [{ type: "data", data: content.value, ...type }];
    if (content?.$case !== "url") return [];
    const file = fileFacts.safeParse(metadata?.[metadataKeys.file]);
    if (file.success) return [{ type: "file", name: filename, mediaType, ...file.data }];
    return [{ type: "url", url: content.value, ...type, ...(filename === "" ? {} : { name: filename }) }];
  });
}

/** The text parts of a message, one a line; empty for none. */
export function messageText(message: Message | undefined): string {
  const texts = message?.parts.map(({ content }) => (content?.$case === "text" ? content.value : undefined));
  return texts?.filter((text) => text !== undefined).join("\n") ?? "";
}

/**
 * An agent may answer with a message and no task; to its caller that is a task that is done, with
 * the message as answer.
 */
export function replyAsTask(message: Message): Task {
  const { messageId, contextId, parts } = message;
  const answer = { artifactId: messageId, name: "answer", description: "", parts, metadata: undefined, extensions: [] };
  return {
    id: message.taskId,
    contextId,
    status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
    artifacts: [answer],
    history: [message],
    metadata: undefined,
  };
}

function seqIn(metadata: Record<string, unknown> | undefined): { seq?: number } {
  const seq = object.safeParse(metadata).data?.[metadataKeys.seq];
  return typeof seq === "number" ? { seq } : {};
}

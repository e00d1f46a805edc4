import { type Artifact, type Message, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import * as z from "zod";
import { type Progress, progressSchema } from "../../core/events/progress.ts";
import type { Part } from "../../core/message.ts";
import type { RunEvent } from "../../core/runs/run.ts";
import type { TaskUsage } from "../../core/usage.ts";
import { metadataKeys } from "../extensions.ts";
import { fileFacts, taskUsage } from "../task-metadata.ts";

/** A journal event from a stream; `at` is in milliseconds since 1970. */
export type JournalEntry = { readonly at: number; readonly event: RunEvent };

/**
 * An update from a task's stream. Agents of this system add `journal`, the event of their journal,
 * and `seq`, its place there. A stream always ends with `end` and the task's final state.
 */
export type TaskUpdate =
  | { readonly kind: "task"; readonly seq?: number; readonly task: Task }
  | {
      readonly kind: "status";
      readonly seq?: number;
      /** The task and its conversation, as the agent names them. */
      readonly taskId?: string;
      readonly contextId?: string;
      readonly state: TaskState;
      readonly text: string;
      /** What the task has used so far, if the agent reports it. */
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

/** A stream's frame as an update; undefined for frames that this client does not understand. */
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
      const { taskId, contextId, status, metadata } = payload.value;
      const progress = progressSchema.safeParse(metadata?.[metadataKeys.progress]);
      if (progress.success) return { kind: "progress", progress: progress.data };
      const journal = journalEvent.safeParse(metadata?.[metadataKeys.event]);
      const usage = taskUsage({ metadata });
      return {
        kind: "status",
        ...(taskId !== "" && { taskId, contextId }),
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

/** An artifact's parts as its journal event has them: stored files by hash. */
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

/** A message's text parts, joined by newlines; empty if there are none. */
export function messageText(message: Message | undefined): string {
  const texts = message?.parts.map(({ content }) => (content?.$case === "text" ? content.value : undefined));
  return texts?.filter((text) => text !== undefined).join("\n") ?? "";
}

/** A completed task made of a reply, for agents that answer with a message and no task. */
export function replyAsTask(message: Message): Task {
  const { messageId, contextId, parts } = message;
  const answer = { artifactId: messageId, name: "answer", description: "", parts, metadata: undefined, extensions: [] };
  return {
    id: message.taskId,
    contextId,
    status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
    artifacts: [answer],
    history: [message],
    metadata: message.metadata,
  };
}

function seqIn(metadata: Record<string, unknown> | undefined): { seq?: number } {
  const seq = object.safeParse(metadata).data?.[metadataKeys.seq];
  return typeof seq === "number" ? { seq } : {};
}

import { type Artifact, type Message, Role, type Task, type TaskStatus } from "@a2a-js/sdk";
import type { RunEnded } from "../core/events/events.ts";
import type { Json } from "../core/json.ts";
import type { RunRecord } from "../core/runs/engine.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { type HistoryEntry, type ProjectedArtifact, projectedUsage, type TaskProjection } from "../runs/projection.ts";
import { metadataKeys } from "./extensions.ts";
import { asking } from "./hitl.ts";
import { asData } from "./media-types.ts";
import { taskState } from "./task-state.ts";
import { textPart, toWirePart } from "./wire-part.ts";

/** What every view of a run shares: its ids, and the input that says how its answer is shown. */
export type TaskIdentity = { readonly id: string; readonly contextId: string; readonly input?: Json };

/** Whether the task's answer is shown as data, for a caller that takes no text. */
export function isShownAsData({ input }: TaskIdentity): boolean {
  return (input as Partial<AgentInput> | null | undefined)?.answerAs === "data";
}

/** How much of a task to show. */
export type TaskDetail = {
  /** Number of newest messages to include: all if omitted, none if 0. */
  readonly historyLength?: number | undefined;
  readonly artifacts: boolean;
  /** Whether an open question is also shown in the form of the HITL extension. */
  readonly hitl?: boolean;
};

/**
 * A run as an A2A task. With the run's record, state and time are the latest; without it they come
 * from the projection, so a reader who resumes sees the task as of that event.
 */
export function taskView(
  identity: TaskIdentity,
  projection: TaskProjection,
  publicUrl: string,
  detail: TaskDetail,
  run?: RunRecord,
): Task {
  const { historyLength = Number.POSITIVE_INFINITY } = detail;
  const takenIn = projection.artifacts.findLast((artifact) => artifact.takenIn !== undefined)?.takenIn;
  const history =
    historyLength === 0 ? [] : projection.history.slice(-Math.min(historyLength, projection.history.length));
  return {
    id: identity.id,
    contextId: identity.contextId,
    status: taskStatus(identity, projection, { run, hitl: detail.hitl }),
    artifacts: detail.artifacts
      ? projection.artifacts.map((artifact) => artifactView(identity, artifact, publicUrl))
      : [],
    history: history.map((entry) => historyMessage(identity, entry, publicUrl)),
    metadata: {
      [metadataKeys.seq]: projection.seq,
      [metadataKeys.usage]: projectedUsage(projection),
      ...(takenIn && { [metadataKeys.takenIn]: takenIn }),
    },
  };
}

/**
 * The status of a run after the projection's last event; with `hitl` its message also asks in the
 * form of that extension.
 */
export function taskStatus(
  identity: TaskIdentity,
  projection: TaskProjection,
  { run, hitl = false }: { readonly run?: RunRecord | undefined; readonly hitl?: boolean | undefined } = {},
): TaskStatus {
  const { status, end } = projection;
  const message = status && agentMessage(identity, status.seq, status.text, end?.error);
  return {
    state: taskState(projection, run),
    message: message && hitl ? asking(message, identity.id, projection) : message,
    timestamp: new Date(run?.updatedAt ?? projection.at).toISOString(),
  };
}

/** An artifact in A2A's form. */
export function artifactView(identity: TaskIdentity, artifact: ProjectedArtifact, publicUrl: string): Artifact {
  const parts = isShownAsData(identity) ? asData(artifact.parts) : artifact.parts;
  return {
    artifactId: artifact.artifactId,
    name: artifact.name,
    description: artifact.description ?? "",
    parts: parts.map((part) => toWirePart(part, publicUrl)),
    metadata: artifact.metadata,
    extensions: [],
  };
}

function historyMessage(identity: TaskIdentity, entry: HistoryEntry, publicUrl: string): Message {
  return {
    ...messageShell(identity, entry.seq),
    ...(entry.messageId === undefined ? {} : { messageId: entry.messageId }),
    role: entry.role === "user" ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts: entry.parts.map((part) => toWirePart(part, publicUrl)),
    metadata: entry.metadata,
  };
}

function agentMessage(identity: TaskIdentity, seq: number, text: string, error: RunEnded["error"]): Message {
  const metadata = error && { [metadataKeys.error]: error };
  return { ...messageShell(identity, seq), role: Role.ROLE_AGENT, parts: [textPart(text)], metadata };
}

/** The id derives from the position in the journal, so every read yields the same message. */
function messageShell(identity: TaskIdentity, seq: number) {
  return {
    messageId: `${identity.id}/${seq}`,
    taskId: identity.id,
    contextId: identity.contextId,
    extensions: [],
    referenceTaskIds: [],
  };
}

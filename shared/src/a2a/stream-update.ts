import type { StreamResponse } from "@a2a-js/sdk";
import type { StoredEvent } from "../core/engine.ts";
import type { RunEvent } from "../core/run.ts";
import { foldedUsage, type TaskFold } from "../runs/projection.ts";
import { metadataKeys } from "./extensions.ts";
import { artifactView, type TaskIdentity, taskStatus } from "./task-view.ts";

/**
 * A stored event as a stream tells it; `fold` already includes it. Every event is told, so that the sequence numbers a
 * reader sees have no gaps. The event itself is added only with the journal extension, and not to an artifact update,
 * whose artifact says it all.
 */
export function eventUpdate(
  identity: TaskIdentity,
  fold: TaskFold,
  stored: StoredEvent,
  publicUrl: string,
  journal: boolean,
): StreamResponse {
  const shell = { taskId: identity.id, contextId: identity.contextId };
  const standing = { [metadataKeys.seq]: stored.seq, [metadataKeys.usage]: foldedUsage(fold) };
  const added = stored.event.type === "artifact-added" ? fold.artifacts.at(-1) : undefined;
  if (added !== undefined) {
    const artifact = artifactView(added, publicUrl);
    const value = { ...shell, artifact, append: false, lastChunk: true, metadata: standing };
    return { payload: { $case: "artifactUpdate", value } };
  }
  const { at, event } = stored;
  const metadata = { ...standing, ...(journal ? { [metadataKeys.event]: { at, event } } : {}) };
  const status = taskStatus(identity, freshOnly(fold), undefined);
  return { payload: { $case: "statusUpdate", value: { ...shell, status, metadata } } };
}

/** Live progress as a stream tells it to those who activated the journal extension. */
export function progressUpdate(identity: TaskIdentity, fold: TaskFold, event: RunEvent): StreamResponse {
  const status = { ...taskStatus(identity, fold), message: undefined };
  const metadata = { [metadataKeys.progress]: event };
  const value = { taskId: identity.id, contextId: identity.contextId, status, metadata };
  return { payload: { $case: "statusUpdate", value } };
}

/** A stream says each status text once, with the event it came from; repeating it would show a peer the same thought again. */
function freshOnly(fold: TaskFold): TaskFold {
  if (fold.status === undefined || fold.status.seq === fold.seq) return fold;
  const { status: _, ...rest } = fold;
  return rest;
}

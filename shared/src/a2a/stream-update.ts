import type { StreamResponse } from "@a2a-js/sdk";
import type { StoredEvent } from "../core/runs/engine.ts";
import type { RunEvent } from "../core/runs/run.ts";
import { projectedUsage, type TaskProjection } from "../runs/projection.ts";
import { metadataKeys } from "./extensions.ts";
import { artifactView, type TaskIdentity, taskStatus } from "./task-view.ts";

/** The extensions a reader has activated, as far as they change a stream. */
export type ActiveExtensions = { readonly journal?: boolean; readonly hitl?: boolean };

/**
 * A stored event as a stream update; `projection` already includes it. Every event becomes an
 * update, so the sequence numbers a reader sees have no gaps. The event itself is added only with
 * the journal extension, and never to an artifact update, whose artifact is complete; a question
 * is also in the form of the HITL extension with that one.
 */
export function eventUpdate(
  identity: TaskIdentity,
  projection: TaskProjection,
  stored: StoredEvent,
  publicUrl: string,
  { journal = false, hitl = false }: ActiveExtensions = {},
): StreamResponse {
  const { id: taskId, contextId } = identity;
  const seqAndUsage = { [metadataKeys.seq]: stored.seq, [metadataKeys.usage]: projectedUsage(projection) };
  const added = stored.event.type === "artifact-added" ? projection.artifacts.at(-1) : undefined;
  if (added !== undefined) {
    const artifact = artifactView(identity, added, publicUrl);
    const value = { taskId, contextId, artifact, append: false, lastChunk: true, metadata: seqAndUsage };
    return { payload: { $case: "artifactUpdate", value } };
  }
  const { at, event } = stored;
  const metadata = journal ? { ...seqAndUsage, [metadataKeys.event]: { at, event } } : seqAndUsage;
  const status = taskStatus(identity, freshOnly(projection), { hitl });
  return { payload: { $case: "statusUpdate", value: { taskId, contextId, status, metadata } } };
}

/** Live progress as a stream update, for clients that activated the journal extension. */
export function progressUpdate(identity: TaskIdentity, projection: TaskProjection, event: RunEvent): StreamResponse {
  const status = { ...taskStatus(identity, projection), message: undefined };
  const metadata = { [metadataKeys.progress]: event };
  const value = { taskId: identity.id, contextId: identity.contextId, status, metadata };
  return { payload: { $case: "statusUpdate", value } };
}

/**
 * A stream sends each status text once, with the event it came from; otherwise a peer would show
 * the same text twice.
 */
function freshOnly(projection: TaskProjection): TaskProjection {
  if (projection.status === undefined || projection.status.seq === projection.seq) return projection;
  const { status: _, ...rest } = projection;
  return rest;
}

import type { ErrorCode } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { type Part, textOf } from "../core/message.ts";
import type { RunRecord } from "../core/runs/engine.ts";
import type { AgentInput } from "../core/runs/task.ts";
import { withoutLastSlashes } from "../core/text/without-last-slashes.ts";
import type { TaskUsage } from "../core/usage.ts";
import { type HistoryEntry, type ProjectedArtifact, projectedUsage, type TaskProjection } from "./projection.ts";

/** A file a run was given or made. `url` is where this gateway serves it. */
export type FileView = {
  readonly name: string;
  readonly mediaType: string;
  readonly size: number;
  readonly sha256: string;
  readonly url: string;
};

/** The statuses of a run, as callers see them. */
export const runStates = [
  "queued",
  "running",
  "input-required",
  "auth-required",
  "waiting",
  "paused",
  "completed",
  "failed",
  "canceled",
] as const satisfies readonly RunView["status"][];

/** A run as callers of the gateway see it. Times are ISO 8601. */
export type RunView = {
  readonly id: string;
  /** The flow or agent that it runs. */
  readonly name: string;
  readonly contextId: string;
  /** `input-required` and `auth-required` wait for the caller; `waiting` for something else. */
  readonly status: RunRecord["status"] | "input-required" | "auth-required";
  readonly input: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The sequence number of its newest event. */
  readonly lastEvent: number;
  /** The newest status line. */
  readonly progress?: string;
  /** Its question, while it waits for an answer. */
  readonly question?: string;
  /** The number of the event that asked it, which an answer may name. */
  readonly questionEvent?: number;
  /** The call that its question is about, if it asks for an approval. */
  readonly approval?: Approval;
  /** The agent whose question it is, if another agent asked it. */
  readonly asker?: string;
  readonly answer?: string;
  readonly data?: Json;
  readonly files: readonly FileView[];
  /** Tokens and dollars it used, agents included; `unpriced` if some of it had no known price. */
  readonly usage: TaskUsage;
  /** The agents it asked, in the order of their first ask. */
  readonly agents: readonly string[];
  /** What it may use, agents included, as far as its caller limited that. */
  readonly budget?: NonNullable<AgentInput["budget"]>;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
};

/**
 * A call that a run asks to be allowed, as the person decides about it: "yes " and `id` as the
 * answer allows it once, the same and " for this task" allows what `forTask` says, anything else
 * refuses it.
 */
export type Approval = {
  readonly id: string;
  readonly name: string;
  /** JSON text, exactly as the call would be made. */
  readonly arguments: string;
  /** What the call would do. */
  readonly risk?: string;
  /** What the person may allow for the rest of the task; left out, only this call. */
  readonly forTask?: string;
};

/** The view of a record and its events together. */
export function runView(run: RunRecord, projection: TaskProjection, name: string, publicUrl: string): RunView {
  const status = statusOf(run, projection);
  const answer = projection.artifacts.findLast(
    (artifact) => artifact.name === "answer" || artifact.name === "partial-answer",
  );
  const data = answer?.parts.find((part) => part.type === "data");
  const question =
    status === "input-required" || status === "auth-required" ? questionOf(projection.history) : undefined;
  const error = projection.end?.error ?? run.error;
  const { budget } = (run.input ?? {}) as Partial<AgentInput>;
  return {
    id: run.id,
    name,
    contextId: run.contextId,
    status,
    input: textOf(projection.history[0]?.parts ?? []),
    createdAt: new Date(run.createdAt).toISOString(),
    updatedAt: new Date(run.updatedAt).toISOString(),
    lastEvent: run.lastEvent,
    ...(projection.status && { progress: projection.status.text }),
    ...(question !== undefined && { question, ...askedOf(projection) }),
    ...(answer && { answer: textOf(answer.parts) }),
    ...(data?.type === "data" && { data: data.data }),
    files: projection.artifacts.flatMap((artifact) => filesOf(artifact, publicUrl)),
    usage: projectedUsage(projection),
    agents: projection.agents,
    ...(budget && { budget }),
    ...(error && { error }),
  };
}

/**
 * A run's status for its caller: it waits for the caller while a question is open, whatever else it
 * is doing.
 */
export function statusOf(run: RunRecord, projection: TaskProjection): RunView["status"] {
  if (run.status !== "running" && run.status !== "waiting") return run.status;
  if (projection.question === "authorization") return "auth-required";
  return projection.question === undefined ? run.status : "input-required";
}

/** What the open question is about, and whose it is. */
function askedOf({ approval, from, askedBy }: TaskProjection): Pick<RunView, "approval" | "asker" | "questionEvent"> {
  const { callId: _, ...call } = approval ?? { callId: "" };
  return {
    ...(askedBy !== undefined && { questionEvent: askedBy }),
    ...("id" in call && { approval: call }),
    ...(from && { asker: from.agent }),
  };
}

function questionOf(history: readonly HistoryEntry[]): string | undefined {
  const asked = history.findLast(({ role }) => role === "agent");
  return asked && textOf(asked.parts);
}

function filesOf({ parts }: ProjectedArtifact, publicUrl: string): FileView[] {
  return parts.flatMap((part) => (part.type === "file" ? [fileView(part, publicUrl)] : []));
}

/** A stored file with the address it is served at. */
function fileView({ name, mediaType, size, sha256 }: Extract<Part, { type: "file" }>, publicUrl: string): FileView {
  const base = name.split("/").at(-1) ?? name;
  const url = `${withoutLastSlashes(publicUrl)}/artifacts/${sha256}/${encodeURIComponent(base)}`;
  return { name, mediaType, size, sha256, url };
}

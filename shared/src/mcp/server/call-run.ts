import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { AppError } from "../../core/errors.ts";
import { readEvent } from "../../core/events/read-event.ts";
import { defined } from "../../core/json.ts";
import type { IncomingPart } from "../../core/message.ts";
import type { Engine, RunRecord } from "../../core/runs/engine.ts";
import { type AgentInput, settingsMetadata } from "../../core/runs/task.ts";
import type { Trace } from "../../core/trace.ts";
import type { ArtifactStore } from "../../core/workspace.ts";
import { findRunnable, type Runnables } from "../../runs/runnable.ts";
import type { Runs } from "../../runs/runs.ts";
import { statusLines } from "../../runs/status-text.ts";
import type { RunArguments } from "./runnable-tool.ts";

/** What a tool call that starts or reads a run needs. */
export type CallDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
};

/** One call: its caller, its signal and its progress. */
export type ServedCall = {
  readonly principal: string;
  /** The conversation the caller named, including its files. */
  readonly contextId: string | undefined;
  readonly signal: AbortSignal;
  /** The trace of the call: in its `_meta`, or else in the headers it came with. */
  readonly trace?: Trace | undefined;
  /** What the client can be asked. */
  readonly client: ClientCapabilities;
  progress(text: string): void;
};

/** Starts a run of a flow or agent. Throws `not_found` for an unknown name. */
export async function beginRun(
  name: string,
  { task, files = [], agents, options, output_schema }: RunArguments,
  { runs, runnables }: CallDeps,
  { principal, contextId, trace }: ServedCall,
): Promise<RunRecord> {
  const runnable = findRunnable(runnables, name);
  const parts: IncomingPart[] = [
    { type: "text", text: task },
    ...files.map((file) => ({ type: "bytes" as const, bytes: bytesOf(file), name: file.name })),
  ];
  const metadata = settingsMetadata(defined({ agents, options }));
  const message = { messageId: crypto.randomUUID(), parts, ...(Object.keys(metadata).length > 0 && { metadata }) };
  const outputSchema = output_schema as NonNullable<AgentInput["outputSchema"]> | undefined;
  const asked = { message, contextId, ...(trace && { trace }), ...(outputSchema && { outputSchema }) };
  return runs.start(runnable, asked, principal);
}

/**
 * Waits until a run has ended or asks something, reporting its progress, at most until the call
 * ends or `withinMs` is over.
 */
export async function awaitRun(run: RunRecord, withinMs: number, deps: CallDeps, call: ServedCall): Promise<RunRecord> {
  const told = new AbortController();
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(withinMs), told.signal]);
  const telling = tellProgress(run, deps.engine, signal, call);
  try {
    return await deps.runs.settled(run, signal);
  } finally {
    told.abort();
    await telling;
  }
}

async function tellProgress(run: RunRecord, engine: Engine, signal: AbortSignal, call: ServedCall): Promise<void> {
  const lineOf = statusLines();
  for await (const item of engine.follow(run.id, { after: run.lastEvent, signal })) {
    const text = item.kind === "event" ? lineOf(readEvent(item.event)) : undefined;
    if (text !== undefined) call.progress(text);
  }
}

function bytesOf({ name, text, bytes }: NonNullable<RunArguments["files"]>[number]): Uint8Array {
  if ((text === undefined) === (bytes === undefined))
    throw new AppError("invalid_input", `The file ${name} needs either text or bytes.`);
  return bytes === undefined ? Buffer.from(text ?? "") : Buffer.from(bytes, "base64");
}

const longestContext = 200;

/** The conversation in a request's `Manyhands-Context` header. Throws `invalid_input`. */
export function contextNamed(request: Request | undefined): string | undefined {
  const context = request?.headers.get("Manyhands-Context") ?? undefined;
  if (context === undefined || (context !== "" && context.length <= longestContext)) return context;
  throw new AppError("invalid_input", `Manyhands-Context has 1 to ${longestContext} characters.`);
}

import { statusText } from "@manyhands/shared/a2a/status-text";
import type { Engine, RunRecord } from "@manyhands/shared/durable/engine";
import { AppError } from "@manyhands/shared/errors";
import type { Json } from "@manyhands/shared/json";
import type { ArtifactStore } from "@manyhands/shared/workspace/workspace";
import { type FlowTelling, userMessage } from "../rest/user-message.ts";
import { findRunnable, type Runnables } from "../runs/runnable.ts";
import type { Runs } from "../runs/runs.ts";
import type { RunArguments } from "./runnable-tool.ts";

/** What calls of tools need. */
export type CallDeps = {
  readonly runs: Runs;
  readonly runnables: Runnables;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
};

/** One call: whose it is, when it is given up, and how its progress is told. */
export type Call = {
  readonly principal: string;
  readonly signal: AbortSignal;
  progress(text: string): void;
};

/** Starts a run of a flow or agent. Throws `not_found` for a name that is neither. */
export async function beginRun(
  name: string,
  { task, files = [], agents, options }: RunArguments,
  { runs, runnables, artifacts }: CallDeps,
  { principal }: Call,
): Promise<RunRecord> {
  const runnable = findRunnable(runnables, name);
  const said = { text: task, files: files.map(fileOf) };
  const telling = { ...(agents && { agents }), ...(options && { options: options as { [key: string]: Json } }) };
  const message = await userMessage(crypto.randomUUID(), said, telling satisfies FlowTelling, artifacts);
  return runs.start(runnable, { message }, principal);
}

/** Waits until a run has ended or asks something, telling its progress; at most as long as the call or `withinMs` lasts. */
export async function awaitRun(run: RunRecord, withinMs: number, deps: CallDeps, call: Call): Promise<RunRecord> {
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

async function tellProgress(run: RunRecord, engine: Engine, signal: AbortSignal, call: Call): Promise<void> {
  for await (const item of engine.follow(run.id, { after: run.lastEvent, signal })) {
    const text = item.kind === "event" ? statusText(item.event) : undefined;
    if (text !== undefined) call.progress(text);
  }
}

function fileOf({ name, text, bytes }: NonNullable<RunArguments["files"]>[number]) {
  if ((text === undefined) === (bytes === undefined))
    throw new AppError("invalid_input", `The file ${name} needs either text or bytes.`);
  return { name, bytes: bytes ?? Buffer.from(text ?? "").toString("base64") };
}

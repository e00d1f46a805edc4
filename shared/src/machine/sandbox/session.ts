import { bytesInWords } from "./limits.ts";
import { createMarkedStream, type MarkedStream } from "./marked-stream.ts";
import type { OutputListener, OutputStream } from "./run-command.ts";
import type { SandboxProcess } from "./sandbox.ts";

/**
 * Input that makes an interpreter run `code` and then, whatever happened, write `␞TOKEN:payload␞`
 * to both outputs; each dialect defines the payload on standard output. After a call that was
 * `interrupted` one more interrupt of that call may still be waiting.
 */
export type Frame = (code: string, token: string, about: { readonly interrupted: boolean }) => string;

/**
 * The result of one call. `ended`: the interpreter itself is gone; `lost`: it did not return and
 * was killed.
 */
export type SessionCallOutcome = {
  readonly state: "finished" | "ended" | "lost";
  /** The mark's payload, if a mark came. */
  readonly payload?: string;
  /** The interpreter's exit code, if it has ended. */
  readonly exitCode?: number;
  /** The bound that the call hit. */
  readonly limit?: string;
};

/** The bounds of one call of a session, and who hears its output. */
export type SessionCallOptions = {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onOutput: OutputListener;
};

/**
 * An interpreter that serves many calls, one at a time. After `ended` or `lost` it can no longer be
 * used.
 */
export interface Session {
  /** Whether the interpreter still runs. */
  alive(): boolean;
  /**
   * Runs code. At `timeoutMs`, or at the output bound, the foreground work is interrupted (SIGINT,
   * SIGTERM, SIGKILL); the session is kept if the interpreter then returns. An abort kills the
   * session and rejects with the signal's reason.
   */
  call(code: string, options: SessionCallOptions): Promise<SessionCallOutcome>;
  /** Ends the interpreter and everything it started. */
  close(): Promise<void>;
}

/**
 * A session that has returned from its first call. Rejects with what it said instead, or with how
 * it ended; `what` begins that sentence.
 */
export async function started(
  session: Session,
  what: string,
  { code, timeoutMs }: { readonly code: string; readonly timeoutMs: number },
): Promise<Session> {
  const said: string[] = [];
  const { state, exitCode } = await session.call(code, {
    timeoutMs,
    signal: AbortSignal.timeout(2 * timeoutMs),
    onOutput: (_, bytes) => said.push(Buffer.from(bytes).toString()),
  });
  if (state === "finished") return session;
  await session.close();
  const end = state === "ended" ? `it ended with exit code ${exitCode}` : "it did not answer";
  throw new Error(`${what} did not start: ${said.join("").trim() || end}`);
}

/** How long the foreground work may take to end after each signal. */
const graces = [
  ["SIGINT", 1000],
  ["SIGTERM", 500],
  ["SIGKILL", 500],
] as const;
const againMs = 100;
/** How often and how long a signal may find the interpreter starved before its own time begins. */
const lookMs = 50;
const longestLooks = 200;
/** After the interpreter has ended its outputs reach their end, unless something outlived it. */
const drainMs = 500;

type Live = {
  readonly process: SandboxProcess;
  readonly frame: Frame;
  readonly stdout: MarkedStream;
  readonly stderr: MarkedStream;
  /** Whether the last call was interrupted. */
  interrupted: boolean;
};

/** Creates a session from a process that has just been started. */
export function createSession(process: SandboxProcess, frame: Frame): Session {
  const live: Live = {
    process,
    frame,
    stdout: createMarkedStream(process.stdout),
    stderr: createMarkedStream(process.stderr),
    interrupted: false,
  };
  let alive = true;
  const gone = process.exited.finally(() => {
    alive = false;
  });
  gone.catch(() => {});
  return {
    alive: () => alive,
    call: (code, options) => runCall(live, code, options),
    close: () => end(process),
  };
}

async function runCall(
  live: Live,
  code: string,
  { timeoutMs, signal, onOutput }: SessionCallOptions,
): Promise<SessionCallOutcome> {
  signal.throwIfAborted();
  const { process } = live;
  const stop = Promise.withResolvers<string>();
  let bytesLeft = process.limits.outputBytes;
  const finished = runToMark(live, code, (stream, bytes) => {
    if (bytesLeft < 0 || signal.aborted) return;
    bytesLeft -= bytes.length;
    onOutput(stream, bytes);
    if (bytesLeft < 0) stop.resolve(`output ${bytesInWords(process.limits.outputBytes)}`);
  });
  const timer = setTimeout(() => stop.resolve(`wall time ${timeoutMs / 1000} s`), timeoutMs);
  const abort = () => stop.resolve("abort");
  signal.addEventListener("abort", abort);
  try {
    const first = await Promise.race([finished, stop.promise]);
    if (typeof first !== "string") return first;
    live.interrupted = true;
    const outcome = signal.aborted ? undefined : await interrupted(process, finished, signal);
    if (outcome !== undefined && !signal.aborted) return { ...outcome, limit: first };
    await end(process);
    signal.throwIfAborted();
    return { state: "lost", limit: first };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Sends the code and resolves once both outputs have shown the mark or the interpreter is gone. */
async function runToMark(live: Live, code: string, onOutput: OutputListener) {
  const { process, frame, stdout, stderr, interrupted } = live;
  live.interrupted = false;
  const token = crypto.randomUUID();
  const take = (stream: OutputStream) => (bytes: Uint8Array) => onOutput(stream, bytes);
  const marks = Promise.all([stdout.until(token, take("stdout")), stderr.until(token, take("stderr"))]);
  process.stdin.write(frame(code, token, { interrupted }));
  process.stdin.flush();
  const drained = process.exited.then(() => Promise.race([marks, Bun.sleep(drainMs).then(() => [])]));
  const [payload] = await Promise.race([marks, drained]);
  if (payload === undefined) return endedOutcome(process);
  process.settle();
  const limit = await process.memoryHit();
  return { state: "finished", payload, ...(limit === undefined ? {} : { limit }) } as const;
}

async function endedOutcome(process: SandboxProcess): Promise<SessionCallOutcome> {
  const exitCode = await process.exited;
  const limit = await process.limitHit();
  return { state: "ended", exitCode, ...(limit === undefined ? {} : { limit }) };
}

/**
 * Sends stronger and stronger signals until the call ends; undefined when it does not. An abort
 * ends the waiting immediately.
 */
async function interrupted(
  process: SandboxProcess,
  finished: Promise<SessionCallOutcome>,
  signal: AbortSignal,
): Promise<SessionCallOutcome | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  const abort = () => aborted.resolve(undefined);
  signal.addEventListener("abort", abort);
  const wait = (milliseconds: number) =>
    Promise.race([finished, Bun.sleep(milliseconds).then(() => undefined), aborted.promise]);
  const within = async (milliseconds: number) => {
    for (let looks = 0; looks < longestLooks && !signal.aborted && process.isStarved(); looks++) {
      const outcome = await wait(lookMs);
      if (outcome !== undefined) return outcome;
    }
    return wait(milliseconds);
  };
  // A shell loop continues after its child was killed, and needs a second signal.
  const again = (milliseconds: number) => {
    process.interrupt("SIGINT");
    return within(milliseconds);
  };
  try {
    for (const [name, graceMs] of graces) {
      process.interrupt(name);
      const outcome = (await within(againMs)) ?? (await again(graceMs));
      if (outcome !== undefined || signal.aborted) return outcome;
    }
    return undefined;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function end(process: SandboxProcess): Promise<void> {
  process.kill();
  await process.exited;
}

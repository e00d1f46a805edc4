import { sleep } from "manyhands/internal/core/async/sleep";
import { messageOf, publicError } from "manyhands/internal/core/errors";
import { type ServerProcess, type ServerSpec, startServer } from "./server-process.ts";

/**
 * Events of a supervised server. One that is given up has the code `config_invalid` if it refused
 * its configuration.
 */
export type SupervisorEvent =
  | { readonly type: "server-up"; readonly name: string; readonly url: string; readonly restarts: number }
  | { readonly type: "server-down"; readonly name: string; readonly reason: string; readonly restartInMs: number }
  | {
      readonly type: "server-given-up";
      readonly name: string;
      readonly code: "config_invalid" | "unavailable";
      readonly reason: string;
    };

/** A server's failure and what is done about it, as people read it. */
export function troubleText(event: Exclude<SupervisorEvent, { type: "server-up" }>): string {
  if (event.type === "server-given-up") return `${event.reason}\n  Given up on ${event.name}.`;
  return `${event.reason}\n  Restarting it in ${event.restartInMs / 1000} s.`;
}

/** How patient supervision is. */
export type SupervisionPolicy = {
  readonly readyTimeoutMs: number;
  /** Pause before the first restart; doubled each time, up to `maxPauseMs`. */
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** A server that lived at least this long resets the count of failures. */
  readonly settledMs: number;
  /** Failures in a row after which a server that has never been up is given up. */
  readonly attempts: number;
};

/** The policy of `bun start`. */
export const defaultPolicy: SupervisionPolicy = {
  readyTimeoutMs: 30_000,
  firstPauseMs: 500,
  maxPauseMs: 30_000,
  settledMs: 10_000,
  attempts: 5,
};

/** Exit code of a process with an invalid configuration: restarting it would change nothing. */
const configurationExitCode = 2;

/**
 * Keeps a server up until `signal` aborts, restarting it with growing pauses. One that was never up
 * is given up when it keeps failing, and any that refuses its configuration. Resolves when the
 * server is down for good. Rejects with the file system's error if its log cannot be opened at
 * first; later that is a failure like others.
 */
export async function supervise(
  spec: ServerSpec,
  options: {
    readonly signal: AbortSignal;
    readonly graceMs: number;
    readonly policy: SupervisionPolicy;
    readonly report: (event: SupervisorEvent) => void;
  },
): Promise<void> {
  const { signal, policy } = options;
  let failures = 0;
  let hasBeenUp = false;
  const report = (event: SupervisorEvent) => {
    hasBeenUp ||= event.type === "server-up";
    options.report(event);
  };
  for (let starts = 0; !signal.aborted; starts++) {
    const startedAt = performance.now();
    const ended = await lived(spec, starts, { ...options, report });
    if (ended === undefined || signal.aborted) return;
    const { reason, exitCode } = ended;
    failures = performance.now() - startedAt >= policy.settledMs ? 1 : failures + 1;
    const isMisconfigured = exitCode === configurationExitCode;
    if (isMisconfigured || (failures >= policy.attempts && !hasBeenUp)) {
      const code = isMisconfigured ? "config_invalid" : "unavailable";
      report({ type: "server-given-up", name: spec.name, code, reason });
      return;
    }
    const restartInMs = Math.min(policy.firstPauseMs * 2 ** (failures - 1), policy.maxPauseMs);
    report({ type: "server-down", name: spec.name, reason, restartInMs });
    await sleep(restartInMs, signal).catch(() => undefined);
  }
}

/** One process, until it is down. Returns why it is, or undefined if it was stopped on request. */
async function lived(
  spec: ServerSpec,
  restarts: number,
  options: Parameters<typeof supervise>[1],
): Promise<{ readonly reason: string; readonly exitCode: number | null } | undefined> {
  let server: ServerProcess;
  try {
    server = startServer(spec);
  } catch (error) {
    if (restarts === 0) throw error;
    return {
      reason: `${spec.name} could not be started: ${messageOf(error)}`,
      exitCode: null,
    };
  }
  const reason = await untilDown(server, restarts, options);
  return reason === undefined ? undefined : { reason, exitCode: await server.exited };
}

/**
 * Waits until one process is down. Returns the reason, or undefined if it was stopped on request.
 */
async function untilDown(
  server: ServerProcess,
  restarts: number,
  { signal, graceMs, policy, report }: Parameters<typeof supervise>[1],
): Promise<string | undefined> {
  const stopping = new Promise<"stop">((resolve) => {
    signal.addEventListener("abort", () => resolve("stop"), { once: true });
  });
  try {
    const url = await server.ready({ timeoutMs: policy.readyTimeoutMs, signal });
    report({ type: "server-up", name: server.name, url, restarts });
  } catch (error) {
    await server.stop(signal.aborted ? graceMs : 0);
    return signal.aborted ? undefined : publicError(error).message;
  }
  const end = await Promise.race([server.exited, stopping]);
  if (end === "stop") {
    await server.stop(graceMs);
    return undefined;
  }
  if (end > 128) return `${server.name} was ended by signal ${end - 128}.`;
  return `${server.name} ended with exit code ${end}:\n${await server.logTail()}`;
}

import { closeSync } from "node:fs";
import { join } from "node:path";
import { authorizedFetch, type Credentials } from "manyhands/internal/a2a/client/credentials";
import { AppError } from "manyhands/internal/core/errors";
import { lastLines, openServerLog } from "./server-log.ts";

/** What to start, and with what. */
export type ServerSpec = {
  readonly name: string;
  /** Absolute path of the entry point. */
  readonly entry: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Where it listens, as far as that is known before it says so. */
  readonly url?: string;
  /** The whole environment of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logPath: string;
  /** How it is called, where it listens with TLS. */
  readonly tls?: Credentials["tls"];
};

/** A running server. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  /** The exit code; 128 + n after signal n. */
  readonly exited: Promise<number>;
  /** The end of what this process wrote to its log. */
  logTail(): Promise<string>;
  /**
   * Its address, once it says that it accepts requests and does. Rejects with `unavailable` and the
   * end of its log when it ends before or is not ready in time, and with the signal's reason.
   */
  ready(options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<string>;
  /** Lets it drain, ends it after `graceMs`, and resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
}

/** How often it is seen whether a log has grown too large. */
const rotateEveryMs = 60_000;

/**
 * Starts a server in a session of its own, so that a Ctrl-C in the terminal reaches only the
 * process in charge, which then decides. Both its outputs go to the log.
 */
export function startServer(spec: ServerSpec): ServerProcess {
  const log = openServerLog(spec.logPath);
  const child = Bun.spawn(
    [process.execPath, "--preload", join(import.meta.dir, "parent-watch.ts"), spec.entry, ...spec.args],
    {
      cwd: spec.cwd,
      env: { ...spec.env },
      stdin: "pipe",
      stdout: log.descriptor,
      stderr: log.descriptor,
      detached: true,
    },
  );
  closeSync(log.descriptor);
  const rotating = setInterval(log.rotate, rotateEveryMs);
  rotating.unref();
  void child.exited.finally(() => clearInterval(rotating));
  const logTail = async () => lastLines(await log.text());
  const lastWords = async (exitCode: number | null) => {
    const said = await logTail();
    if (said !== "") return `:\n${said}`;
    if (exitCode !== 0) return `, and its log has no word of it, as on a full disk: ${spec.logPath}`;
    // A module that only exports its agent ends at once.
    return ` without any output. An entry point must serve its agent, with serveAgent, until a signal ends it: ${spec.entry}`;
  };
  return {
    name: spec.name,
    pid: child.pid,
    exited: child.exited,
    logTail,
    async ready({ timeoutMs, signal }) {
      const deadline = performance.now() + timeoutMs;
      // A last look comes after the time, which may be over without one on a machine that stood
      // still.
      for (;;) {
        signal?.throwIfAborted();
        if (child.exitCode !== null || child.signalCode !== null)
          throw new AppError("unavailable", `${spec.name} ended before it was ready${await lastWords(child.exitCode)}`);
        const url = /^ready (https?:\/\/\S+)/m.exec(await log.text())?.[1];
        if (url !== undefined && (await answers(`${url.replace(/\/$/, "")}/healthz`, spec.tls)))
          return url.replace(/\/$/, "");
        if (performance.now() > deadline) break;
        await Bun.sleep(40);
      }
      // A full disk takes no log: the server says nothing, and answers all the same.
      if (spec.url !== undefined && (await answers(`${spec.url}/healthz`, spec.tls))) return spec.url;
      throw new AppError("unavailable", `${spec.name} was not ready in ${timeoutMs / 1000} s:\n${await logTail()}`);
    },
    async stop(graceMs) {
      child.kill("SIGTERM");
      const ended = await Promise.race([child.exited.then(() => true), Bun.sleep(graceMs).then(() => false)]);
      if (!ended) child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function answers(url: string, tls: Credentials["tls"]): Promise<boolean> {
  try {
    const response = await authorizedFetch(fetch, tls && { tls }, url)(url, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

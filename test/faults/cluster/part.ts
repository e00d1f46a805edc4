import { closeSync, openSync, readFileSync } from "node:fs";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";

/** A part of a cluster that can be ended and started again. */
export type Part = {
  readonly name: string;
  /** Resolves once it answers. */
  start(): Promise<void>;
  /** Ends it at once: `kill -9`, or what comes closest. */
  stop(): Promise<void>;
};

/** A part that is one process of ours, and so can hang. */
export type ProcessPart = Part & {
  /** Where it listens. */
  readonly url: string;
  hang(): void;
  /** Wakes it up; nothing if it is not running. */
  wake(): void;
};

const startedWithinMs = 60_000;

/**
 * A part started by this command, whose output goes to `log`. `health` is asked until it answers.
 */
export function processPart(
  name: string,
  options: {
    readonly command: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly url: string;
    /** Undefined: its port has to accept connections. */
    readonly health?: string;
    readonly log: string;
  },
): ProcessPart {
  const { command, cwd, env, url, health = url, log } = options;
  let child: Bun.Subprocess | undefined;
  const spawn = () => {
    const output = openSync(log, "a");
    child = Bun.spawn([...command], {
      cwd,
      env: { ...bareEnvironment(), ...env },
      stdin: "ignore",
      stdout: output,
      stderr: output,
    });
    closeSync(output);
    return child;
  };
  return {
    name,
    url,
    async start() {
      // As whoever supervises it does: a server ends if its database is away when it starts.
      for (const deadline = performance.now() + startedWithinMs; !(await answers(health, spawn(), deadline)); )
        if (performance.now() > deadline)
          throw new Error(`${name} does not answer at ${health}. ${readFileSync(log, "utf8").slice(-4_000)}`);
    },
    async stop() {
      child?.kill("SIGKILL");
      await child?.exited;
    },
    hang: () => child?.kill("SIGSTOP"),
    wake: () => child?.kill("SIGCONT"),
  };
}

/**
 * Whether it answers before it ends by itself, or the deadline. One that is killed is done with.
 */
async function answers(url: string, child: Bun.Subprocess, deadline: number): Promise<boolean> {
  for (; performance.now() < deadline && child.exitCode === null; await Bun.sleep(50)) {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok || child.signalCode !== null) return true;
  }
  return false;
}

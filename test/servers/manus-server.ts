import { join, resolve } from "node:path";
import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";

const root = resolve(import.meta.dir, "../..");

/** An agent's server as users start it: a separate process on a free port. */
export type AgentServer = {
  readonly url: string;
  /** Resolves with the exit code; 137 after a kill -9. */
  readonly exited: Promise<number>;
  /** Resolves once it has printed that it is ready; rejects if it exits before. */
  readonly ready: Promise<void>;
  /** Sends a signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  readonly pid: number;
};

type ServerEnvironment = Record<string, string> & { MANYHANDS_HOME: string; PORT: string };

/** Starts Manus, like `startAgent`. */
export function startManus(env: ServerEnvironment): AgentServer {
  return startAgent("manus", env);
}

/** Starts an agent from its entry, or from another entry like it, with `startServer`. */
export function startAgent(
  name: string,
  env: ServerEnvironment,
  entry = join(root, "agents", name, "src/server.ts"),
): AgentServer {
  return startServer(entry, env);
}

/** Starts a server from its entry in a bare environment, plus `env`. */
export function startServer(entry: string, env: ServerEnvironment): AgentServer {
  const child = Bun.spawn([process.execPath, resolve(root, entry)], {
    cwd: env.MANYHANDS_HOME,
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const log = new Response(child.stderr).text();
  const { promise: ready, resolve: isReady, reject } = Promise.withResolvers<void>();
  ready.catch(() => undefined);
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) if (decoder.decode(chunk).includes("ready http")) isReady();
    reject(new Error(`${entry} ended before it was ready: ${await log}`));
  })();
  return {
    url: `http://127.0.0.1:${env.PORT}`,
    exited: child.exited,
    ready,
    pid: child.pid,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await child.exited;
    },
  };
}

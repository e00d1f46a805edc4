import { bareEnvironment } from "manyhands/internal/testing/machine/bare-environment";

/** A process that listens at the address it printed as `ready URL`. */
export type ReadyProcess = {
  readonly url: string;
  readonly pid: number;
  /** Resolves with the exit code; 137 after a kill -9. */
  readonly exited: Promise<number>;
  /** What it has written to its log. */
  log(): string;
  /** Sends a signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<number>;
};

/**
 * Starts a process in a bare environment, and waits until it listens. Rejects
 * with its last output.
 */
export async function startReady(
  command: readonly string[],
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<ReadyProcess> {
  const child = Bun.spawn([...command], {
    ...(cwd !== undefined && { cwd }),
    env: { ...bareEnvironment(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let log = "";
  const read = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) log += chunk;
  })();
  const url = await readyUrl(child.stdout);
  if (url === undefined) throw new Error(`It ended before it was ready: ${await read.then(() => log)}`);
  return {
    url,
    pid: child.pid,
    exited: child.exited,
    log: () => log,
    stop(signal = "SIGTERM") {
      child.kill(signal);
      return child.exited;
    },
  };
}

async function readyUrl(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of output) {
    said += decoder.decode(chunk, { stream: true });
    const url = /ready (http\S+?)\/?\n/.exec(said)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

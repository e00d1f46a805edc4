import { bytesInWords } from "./limits.ts";
import { createOutputWindow } from "./output-window.ts";
import type { Sandbox, SandboxCommand, SandboxProcess } from "./sandbox.ts";

/** The output that a process wrote to. */
export type OutputStream = "stdout" | "stderr";

/** Receives output as it comes; the bytes are only valid during the call. */
export type OutputListener = (stream: OutputStream, bytes: Uint8Array) => void;

/**
 * The result of a command. Both outputs are complete up to 64 kB, and reduced to head and tail
 * beyond.
 */
export type CommandOutcome = {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether something was left out of either output; the listener saw everything. */
  readonly cut: boolean;
  /** The bound that ended it, in words: `wall time 120 s`, `output 50 MB`, `memory 2 GB`. */
  readonly limit?: string;
  readonly milliseconds: number;
};

/** After its process has ended a pipe reaches its end, unless something outlived the process. */
const drainMs = 500;

/** What has been started and has an outcome. */
export type RunningCommand = Pick<
  SandboxProcess,
  "stdin" | "stdout" | "stderr" | "exited" | "limits" | "kill" | "limitHit"
>;

type CommandOptions = {
  readonly signal: AbortSignal;
  readonly onOutput?: OutputListener;
  readonly input?: string;
};

/**
 * Runs a command to its end, with `input` on its standard input, which is then closed. An abort
 * kills everything it started and rejects with the signal's reason; `onOutput` has seen the output
 * up to then. Hitting a bound is a result, not an error.
 */
export async function runCommand(
  sandbox: Pick<Sandbox, "spawn">,
  command: SandboxCommand,
  options: CommandOptions,
): Promise<CommandOutcome> {
  options.signal.throwIfAborted();
  const started = performance.now();
  const process = await sandbox.spawn(command);
  return outcomeOf(process, options, started);
}

/**
 * The outcome of a process that was just started, as `runCommand` reports it. `started` is when the
 * start was requested.
 */
export async function outcomeOf(
  process: RunningCommand,
  { signal, onOutput, input }: CommandOptions,
  started = performance.now(),
): Promise<CommandOutcome> {
  const { limits } = process;
  const windows = { stdout: createOutputWindow(), stderr: createOutputWindow() };
  let stopped: string | undefined;
  const stop = (limit: string) => {
    stopped ??= limit;
    process.kill();
  };
  const collect = (stream: OutputStream, bytes: Uint8Array) => {
    if (stopped !== undefined || signal.aborted) return;
    windows[stream].push(bytes);
    onOutput?.(stream, bytes);
    if (windows.stdout.total + windows.stderr.total > limits.outputBytes) {
      stop(`output ${bytesInWords(limits.outputBytes)}`);
    }
  };
  const kill = () => process.kill();
  const timer = setTimeout(() => stop(`wall time ${limits.wallMs / 1000} s`), limits.wallMs);
  signal.addEventListener("abort", kill);
  if (signal.aborted) kill();
  let exitCode: number;
  try {
    process.stdin.write(input ?? "");
    process.stdin.end();
    exitCode = await drained(process, collect);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
  signal.throwIfAborted();
  const limit = stopped ?? (await process.limitHit());
  return {
    exitCode,
    stdout: windows.stdout.text(),
    stderr: windows.stderr.text(),
    cut: windows.stdout.cut || windows.stderr.cut,
    ...(limit === undefined ? {} : { limit }),
    milliseconds: performance.now() - started,
  };
}

async function drained(process: RunningCommand, collect: OutputListener): Promise<number> {
  const readers = { stdout: process.stdout.getReader(), stderr: process.stderr.getReader() };
  const read = async (stream: OutputStream) => {
    for (;;) {
      const { done, value } = await readers[stream].read();
      if (done) return;
      collect(stream, value);
    }
  };
  const reading = Promise.all([read("stdout"), read("stderr")]);
  const exitCode = await process.exited;
  const gaveUp = Bun.sleep(drainMs).then(() => Promise.all([readers.stdout.cancel(), readers.stderr.cancel()]));
  await Promise.race([reading, gaveUp]);
  return exitCode;
}

import { traceVariables } from "../../core/trace.ts";
import { limitFromExitCode } from "../../machine/sandbox/limits.ts";
import type { RunningCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox, SandboxLimits, SandboxProcess } from "../../machine/sandbox/sandbox.ts";
import { type ProgramFrame, programRequest, readFrames } from "./program-frames.ts";
import { pythonCommand } from "./python-session.ts";

/**
 * An interpreter that has started already. It runs each program in a fork of itself, so that the
 * program finds what a new interpreter would find; whatever the program started has ended with it.
 */
export interface WarmInterpreter {
  /** Whether it can run one more program: it lives, and a new one would see the same files. */
  isReady(): Promise<boolean>;
  /**
   * Begins a program. Undefined when it ended before that, or does not answer: nothing of the
   * program has run then. One program at a time.
   */
  begin(code: string, bounds: ProgramBounds): Promise<RunningCommand | undefined>;
  /** Ends it and everything in it. */
  close(): Promise<void>;
}

/** The bounds of one program; the others are those of the interpreter. */
export type ProgramBounds = Pick<SandboxLimits, "wallMs" | "cpuSeconds">;

/** Above that of the longest program. */
const processorSeconds = 3600;
/** A fork takes a millisecond; this allows for a very busy machine. */
const beginMs = 10_000;

/** Starts one, as the first process of a namespace of its own. */
export async function openWarmInterpreter(sandbox: Sandbox, workspace: string): Promise<WarmInterpreter> {
  const command = await pythonCommand("kept", workspace);
  const process = await sandbox.spawn({ ...command, first: true, limits: { cpuSeconds: processorSeconds } });
  let program: Program | undefined;
  let isAlive = true;
  const close = async () => {
    process.kill();
    await process.exited;
  };
  const reading = readFrames(process.stdout, (frame) => program?.take(frame));
  // What it complains of is not part of any program; that it ended is what counts.
  const complaining = process.stderr.pipeTo(new WritableStream());
  process.exited
    .finally(() => {
      isAlive = false;
    })
    .then(() => Promise.allSettled([reading, complaining]))
    .finally(() => program?.lose())
    .catch(() => {});
  return {
    isReady: async () => isAlive && (await process.resume()),
    async begin(code, bounds) {
      if (!isAlive) return undefined;
      program = createProgram(process, bounds, close);
      process.stdin.write(programRequest(code, bounds.cpuSeconds, traceVariables()));
      process.stdin.flush();
      const timer = setTimeout(process.kill, beginMs);
      const hasBegun = await program.hasBegun.finally(() => clearTimeout(timer));
      return hasBegun ? program.running : undefined;
    },
    close,
  };
}

type Program = {
  readonly running: RunningCommand;
  readonly hasBegun: Promise<boolean>;
  take(frame: ProgramFrame): void;
  /** The interpreter has ended. */
  lose(): void;
};

function createProgram(process: SandboxProcess, bounds: ProgramBounds, close: () => Promise<void>): Program {
  const limits = { ...process.limits, ...bounds };
  const hasBegun = Promise.withResolvers<boolean>();
  const exited = Promise.withResolvers<number>();
  const limit = Promise.withResolvers<string | undefined>();
  const outputs = { stdout: openOutput(), stderr: openOutput() };
  let isOver = false;
  const settle = (exitCode: Promise<number> | number, hit: Promise<string | undefined> | string | undefined) => {
    for (const { end } of Object.values(outputs)) end();
    limit.resolve(hit);
    exited.resolve(exitCode);
  };
  const end = async (exitCode: number, isClean: boolean) => {
    const hit = await process.memoryHit();
    if (isClean) process.rest();
    else await close();
    settle(exitCode, hit ?? limitFromExitCode(exitCode, limits));
  };
  return {
    hasBegun: hasBegun.promise,
    take(frame) {
      if (frame.kind === "begun") return hasBegun.resolve(true);
      if (frame.kind !== "ended") return outputs[frame.kind].write(frame.bytes);
      isOver = true;
      end(frame.exitCode, frame.isClean).catch(exited.reject);
    },
    lose() {
      hasBegun.resolve(false);
      if (!isOver) settle(process.exited, process.limitHit());
    },
    running: {
      stdin: { write() {}, flush() {}, end() {} },
      stdout: outputs.stdout.stream,
      stderr: outputs.stderr.stream,
      exited: exited.promise,
      limits,
      kill: process.kill,
      limitHit: () => limit.promise,
    },
  };
}

function openOutput() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  return {
    stream,
    write: (bytes: Uint8Array) => controller?.enqueue(bytes),
    end: () => controller?.close(),
  };
}

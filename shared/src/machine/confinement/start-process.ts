import { AppError } from "../../core/errors.ts";
import {
  descendants,
  ignoresInterrupt,
  isInterruptPending,
  readProcessesBelow,
  sendSignal,
} from "../kernel/process-table.ts";
import { joinNewSessionKeyring } from "../kernel/this-process.ts";
import type { ConversationWatch } from "../memory/conversation-watch.ts";
import { limitFromExitCode } from "../sandbox/limits.ts";
import type { SandboxProcess } from "../sandbox/sandbox.ts";
import type { ConfinedCommand, Confinement, WrappedCommand } from "./confinement.ts";

const longestComplaint = 500;
/** After a program has ended its outputs reach their end, unless something outlived it. */
const drainMs = 500;

/**
 * Starts a command the way its tier wraps it, from `/`, with its own environment. Without a control
 * group, `watch` observes its memory.
 */
export async function startProcess(
  confinement: Confinement,
  command: ConfinedCommand,
  watch?: ConversationWatch,
): Promise<SandboxProcess> {
  const { wrapped, child, ended } = await begin(confinement, command);
  const bound = command.group ?? watch?.add(command.workspace, child.pid);
  const spared = new Set<number>();
  let atEnd: string | undefined;
  const exited = ended.then(async (exitCode) => {
    await wrapped.release();
    atEnd = await bound?.hit();
    await bound?.remove();
    return exitCode;
  });
  return {
    stdin: quietSink(child.stdin),
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    limits: command.limits,
    kill() {
      if (child.exitCode === null && child.signalCode === null) wrapped.end(child.pid);
    },
    interrupt(signal) {
      const leader = wrapped.leader(child.pid);
      if (leader === undefined) return;
      const pids = foreground(leader, spared, signal !== "SIGKILL");
      // The leader first: a shell whose child has just died continues immediately, and the signal
      // would interrupt its next command.
      sendSignal(leader, "SIGINT");
      for (const pid of pids) sendSignal(pid, signal);
    },
    isStarved() {
      const leader = wrapped.leader(child.pid);
      return leader !== undefined && isInterruptPending(leader);
    },
    settle() {
      const leader = wrapped.leader(child.pid);
      spared.clear();
      if (leader !== undefined) for (const pid of descendants(readProcessesBelow(leader), leader)) spared.add(pid);
    },
    rest: () => wrapped.rest?.(),
    resume: async () => (await wrapped.resume?.()) ?? false,
    memoryHit: async () => bound?.hit(),
    async limitHit() {
      const exitCode = await exited;
      return atEnd ?? limitFromExitCode(exitCode, command.limits);
    },
  };
}

type Begun = {
  readonly wrapped: WrappedCommand;
  readonly child: ReturnType<typeof spawnWrapped>;
  /** The exit code, once nothing is left that the started program could have ended with it. */
  readonly ended: Promise<number>;
};

async function begin(confinement: Confinement, command: ConfinedCommand): Promise<Begun> {
  const wrapped = await confinement.wrap(command);
  try {
    const child = spawnWrapped(wrapped);
    const ended = child.exited.then(async (exitCode) => {
      await wrapped.endRest?.();
      return exitCode;
    });
    const begun = { wrapped, child, ended };
    await admitted(begun);
    return begun;
  } catch (error) {
    const again = wrapped.refused?.() ?? false;
    await wrapped.release();
    if (!again) throw error;
  }
  return begin(confinement, command);
}

async function admitted({ wrapped, child, ended }: Begun): Promise<void> {
  const ends = child.stdio.slice(3).filter((end) => typeof end === "number");
  try {
    if ((await wrapped.admit?.(ends)) ?? true) return;
  } catch (error) {
    wrapped.end(child.pid);
    await ended;
    throw error;
  }
  wrapped.end(child.pid);
  const told = new Response(child.stderr).text();
  await ended;
  // Something that outlived the program would keep the pipe open.
  const complaint = await Promise.race([told, Bun.sleep(drainMs).then(() => "")]);
  throw new AppError("sandbox_unavailable", complaint.trim().slice(0, longestComplaint) || "nothing was started");
}

function spawnWrapped({ argv, env, pipes = 0 }: WrappedCommand) {
  // A process finds keys through its initial keyring, which it takes from the thread that starts
  // it.
  joinNewSessionKeyring();
  const more = Array.from({ length: pipes }, () => "pipe" as const);
  return Bun.spawn([...argv], { cwd: "/", env: { ...env }, stdio: ["pipe", "pipe", "pipe", ...more] });
}

/**
 * The processes below `leader` that are not spared; with `spareJobs`, jobs that a shell put into
 * the background are excluded too.
 */
function foreground(leader: number, spared: ReadonlySet<number>, spareJobs: boolean): number[] {
  const table = readProcessesBelow(leader);
  const all = descendants(table, leader);
  // A shell that ignores SIGINT passes that on to every child, so ignoring it then says nothing
  // about them.
  const ignoringMeansBackground = spareJobs && !ignoresInterrupt(leader);
  const background = new Set<number>();
  for (const pid of all) {
    const parent = table.get(pid)?.parent ?? leader;
    const isJob = parent === leader && ignoringMeansBackground && ignoresInterrupt(pid);
    if (spared.has(pid) || isJob || background.has(parent)) background.add(pid);
  }
  return all.filter((pid) => !background.has(pid));
}

/** Writing to a process that has ended does not fail: its exit code reports the end. */
function quietSink(sink: Bun.FileSink): SandboxProcess["stdin"] {
  const quietly = (act: () => unknown) => {
    try {
      Promise.resolve(act()).catch(() => {});
    } catch {
      // Closed already.
    }
  };
  return {
    write: (data) => quietly(() => sink.write(data)),
    flush: () => quietly(() => sink.flush()),
    end: () => quietly(() => sink.end()),
  };
}

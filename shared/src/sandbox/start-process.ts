import { closeSync } from "node:fs";
import type { ConfinedCommand, Confinement, WrappedCommand } from "./confinement.ts";
import type { ControlGroup } from "./control-group.ts";
import { joinNewSessionKeyring } from "./kernel.ts";
import { bytesInWords, limitFromExitCode } from "./limits.ts";
import { descendants, ignoresInterrupt, readProcessTable, sendSignal } from "./process-table.ts";
import type { SandboxProcess } from "./sandbox.ts";

/** Starts a command the way its tier wraps it, from `/`, with an environment of its own. */
export async function startProcess(confinement: Confinement, command: ConfinedCommand): Promise<SandboxProcess> {
  const wrapped = await confinement.wrap(command);
  const child = spawnWrapped(wrapped);
  const spared = new Set<number>();
  let outOfMemory = false;
  const exited = child.exited.then(async (exitCode) => {
    await wrapped.release();
    outOfMemory = await leaveGroup(command.group);
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
      // First, for a shell whose child has just died goes on at once, and would be interrupted in what comes next.
      sendSignal(leader, "SIGINT");
      for (const pid of pids) sendSignal(pid, signal);
    },
    settle() {
      const leader = wrapped.leader(child.pid);
      spared.clear();
      if (leader !== undefined) for (const pid of descendants(readProcessTable(), leader)) spared.add(pid);
    },
    async limitHit() {
      const exitCode = await exited;
      if (outOfMemory) return `memory ${bytesInWords(command.limits.memoryBytes)}`;
      return limitFromExitCode(exitCode, command.limits);
    },
  };
}

function spawnWrapped({ argv, env, descriptors = [] }: WrappedCommand) {
  // Keys are reached through the keyring that a process starts with, which is that of the thread that starts it.
  joinNewSessionKeyring();
  try {
    return Bun.spawn([...argv], { cwd: "/", env: { ...env }, stdio: ["pipe", "pipe", "pipe", ...descriptors] });
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

/** The processes below `leader` that are neither spared nor, with `spareJobs`, jobs that a shell put into the background. */
function foreground(leader: number, spared: ReadonlySet<number>, spareJobs: boolean): number[] {
  const table = readProcessTable();
  const all = descendants(table, leader);
  // A shell that ignores SIGINT itself hands that on to everything, so it says nothing about its children then.
  const ignoringMeansBackground = spareJobs && !ignoresInterrupt(leader);
  const background = new Set<number>();
  for (const pid of all) {
    const parent = table.get(pid)?.parent ?? leader;
    const isJob = parent === leader && ignoringMeansBackground && ignoresInterrupt(pid);
    if (spared.has(pid) || isJob || background.has(parent)) background.add(pid);
  }
  return all.filter((pid) => !background.has(pid));
}

/** A process that has ended does not make its writer fail: its exit code tells. */
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

async function leaveGroup(group: ControlGroup | undefined): Promise<boolean> {
  if (group === undefined) return false;
  const ranOut = await group.ranOutOfMemory();
  await group.remove();
  return ranOut;
}

import { type HardLimits, hardLimits } from "../kernel/hard-limits.ts";
import type { SandboxLimits } from "../sandbox/sandbox.ts";

const openFiles = 1024;

/**
 * The `prlimit` call that precedes a command. Address space stands in for memory, at twice the
 * bound because runtimes reserve more than they use (node and bun start under 4 GB), unless
 * `memoryIsBound` by a control group. A bound above what this process itself may have is lowered to
 * that: `prlimit` cannot raise it, and would run nothing.
 */
export function prlimitArgv(
  prlimit: string,
  limits: SandboxLimits,
  memoryIsBound: boolean,
  own: HardLimits = hardLimits(),
): string[] {
  const atMost = (name: keyof HardLimits, wanted: number) => Math.min(wanted, own[name] ?? wanted);
  return [
    prlimit,
    `--cpu=${atMost("cpu", limits.cpuSeconds)}:${atMost("cpu", limits.cpuSeconds + 1)}`,
    `--fsize=${atMost("fsize", limits.fileBytes)}`,
    `--nproc=${atMost("nproc", limits.processes)}`,
    `--nofile=${atMost("nofile", openFiles)}`,
    "--core=0",
    ...(memoryIsBound ? [] : [`--as=${atMost("as", limits.memoryBytes * 2)}`]),
    "--",
  ];
}

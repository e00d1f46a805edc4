import { type HardLimits, hardLimits } from "../kernel/hard-limits.ts";
import type { SandboxLimits } from "./sandbox.ts";

/** The bounds of a command that sets none. */
export const defaultLimits: SandboxLimits = {
  wallMs: 120_000,
  cpuSeconds: 60,
  memoryBytes: 2 * 2 ** 30,
  processes: 256,
  fileBytes: 2 ** 30,
  outputBytes: 50 * 2 ** 20,
};

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

const cpuSignal = 128 + 24;
const fileSizeSignal = 128 + 25;

/** The bound that an exit code indicates (death by SIGXCPU or SIGXFSZ), in words for people. */
export function limitFromExitCode(exitCode: number, limits: SandboxLimits): string | undefined {
  if (exitCode === cpuSignal) return `CPU time ${limits.cpuSeconds} s`;
  if (exitCode === fileSizeSignal) return `file size ${bytesInWords(limits.fileBytes)}`;
  return undefined;
}

/** 52428800 → `50 MB`; powers of 1024, with one decimal where it matters. */
export function bytesInWords(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  const amount = bytes / 1024 ** power;
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)} ${units[power]}`;
}

import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf } from "../../core/errors.ts";

/** What identifies a process to others on its machine. */
export type ProcessIdentity = {
  /** Machine, boot and process namespace: process ids can be compared only if all three match. */
  readonly host: string;
  readonly pid: number;
  /**
   * Distinguishes a process from a later one with the same id; empty if the system does not report
   * it.
   */
  readonly processStart: string;
};

/** The identity of this process. */
export function ownIdentity(): ProcessIdentity {
  const parts = [hostname(), attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim())];
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return { host: [...parts, namespace].join(" "), pid: process.pid, processStart: startOf(process.pid) ?? "" };
}

/** True only if the process is certainly gone; never for processes of another machine. */
export function isGone(other: ProcessIdentity, own: ProcessIdentity): boolean {
  if (other.host !== own.host) return false;
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    return errnoOf(error) === "ESRCH";
  }
  if (other.processStart === "") return false;
  const start = startOf(other.pid);
  // Where this process cannot look, as without free descriptors, nobody is gone.
  return start !== undefined && start !== other.processStart;
}

/**
 * Start time in clock ticks since boot (proc(5), field 22), empty for a process that is gone or a
 * zombie; undefined if that cannot be read.
 */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? "" : fields[18];
  } catch (error) {
    return ["ENOENT", "ESRCH"].includes(errnoOf(error) ?? "") ? "" : undefined;
  }
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

import { readFileSync } from "node:fs";

/** The two clocks of a machine. Milliseconds. */
export type MachineClock = {
  /** Milliseconds since 1970; may be set forward or back. */
  wall(): number;
  /** Milliseconds since some moment; never set, and keeps counting while the machine sleeps. */
  uptime(): number;
  /** Identifies that moment: processes with the same value count from the same moment. */
  readonly boot: string;
};

/**
 * How often the clock is checked against the system's uptime, which alone includes the time the
 * machine slept.
 */
const checkMs = 1_000;

/**
 * This machine's clocks, which it reads from the files of proc(5). If the system does not identify
 * its boot, `uptime` counts from this process's start.
 */
export function machineClock(read: (path: string) => string = readText): MachineClock {
  const boot = readBoot(read);
  if (boot === undefined)
    return { wall: Date.now, uptime: () => performance.now(), boot: `process ${crypto.randomUUID()}` };
  let behind = systemUptime(read) - performance.now();
  let checkedAt = performance.now();
  return {
    boot,
    wall: Date.now,
    uptime() {
      const own = performance.now();
      if (own - checkedAt >= checkMs) {
        checkedAt = own;
        const slept = sleptBy(read, behind + own);
        if (slept > checkMs) behind += slept;
      }
      return behind + own;
    },
  };
}

function readText(path: string): string {
  return readFileSync(path, "utf8");
}

function readBoot(read: typeof readText): string | undefined {
  try {
    systemUptime(read);
    return read("/proc/sys/kernel/random/boot_id").trim();
  } catch {
    return undefined;
  }
}

/** How far the system is ahead; not at all while it cannot be read, as without free descriptors. */
function sleptBy(read: typeof readText, counted: number): number {
  try {
    return systemUptime(read) - counted;
  } catch {
    return 0;
  }
}

/** In steps of ten milliseconds (proc(5)). */
function systemUptime(read: typeof readText): number {
  const seconds = Number(read("/proc/uptime").split(" ")[0]);
  if (!Number.isFinite(seconds)) throw new Error("The system does not report its uptime.");
  return seconds * 1000;
}

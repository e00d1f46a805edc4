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
 * This machine's clocks. If the system does not identify its boot, `uptime` counts from this
 * process's start.
 */
export function machineClock(): MachineClock {
  const boot = readBoot();
  if (boot === undefined)
    return { wall: Date.now, uptime: () => performance.now(), boot: `process ${crypto.randomUUID()}` };
  let behind = systemUptime() - performance.now();
  let checkedAt = performance.now();
  return {
    boot,
    wall: Date.now,
    uptime() {
      const own = performance.now();
      if (own - checkedAt >= checkMs) {
        checkedAt = own;
        const slept = systemUptime() - (behind + own);
        if (slept > checkMs) behind += slept;
      }
      return behind + own;
    },
  };
}

function readBoot(): string | undefined {
  try {
    systemUptime();
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

/** In steps of ten milliseconds (proc(5)). */
function systemUptime(): number {
  const seconds = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  if (!Number.isFinite(seconds)) throw new Error("The system does not report its uptime.");
  return seconds * 1000;
}

import { readFileSync } from "node:fs";

/** The two clocks of a machine. Milliseconds. */
export type MachineClock = {
  /** Since 1970, as people tell the time: it may be set, forward and back. */
  wall(): number;
  /** What passed since some moment; it is never set, and counts on while the machine sleeps. */
  uptime(): number;
  /** Names that moment: processes that give the same name count from the same one. */
  readonly boot: string;
};

/**
 * How often a reading is held against the system's own, which alone knows how long the machine
 * slept.
 */
const checkMs = 1_000;

/**
 * This machine's clocks. Where the system does not tell its boot, `uptime` counts from this
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
  if (!Number.isFinite(seconds)) throw new Error("The system does not tell how long it is up.");
  return seconds * 1000;
}

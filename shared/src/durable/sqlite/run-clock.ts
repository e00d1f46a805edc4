import type { Log } from "../../core/runs/engine.ts";
import type { MachineClock } from "./machine-clock.ts";

/** One moment on both clocks, in milliseconds: `wall` to show people, `steady` to schedule by. */
export type Moment = { readonly wall: number; readonly steady: number };

/** A recorded reading of all clocks at one moment. */
export type ClockReading = Moment & Pick<MachineClock, "boot"> & { readonly uptime: number };

/** The clocks drift apart by less than this unless somebody sets one. */
const jumpMs = 5_000;

/**
 * The clock of runs: it runs evenly whatever the machine's clock is set to, across all processes
 * that share a store. It started at the wall clock's time. Within a boot it follows the system's
 * uptime, which two processes know to ten milliseconds; across a reboot it adds the time that
 * passed on the wall clock, or nothing if that went back.
 */
export class RunClock {
  readonly #machine: MachineClock;
  readonly #log: Log;
  /** What is added to the machine's uptime. */
  #offset: number;
  /** How far the wall clock was ahead when that was last reported. */
  #ahead = 0;

  constructor(machine: MachineClock, log: Log) {
    this.#machine = machine;
    this.#log = log;
    this.#offset = machine.wall() - machine.uptime();
  }

  /** Milliseconds; never goes back within a process. */
  now(): number {
    return Math.floor(this.#offset + this.#machine.uptime());
  }

  moment(): Moment {
    return { wall: this.#machine.wall(), steady: this.now() };
  }

  /** Continues from the last recorded reading. */
  continueFrom(from: ClockReading): void {
    const { wall, uptime, boot } = this.#machine;
    const isSameBoot = from.boot === boot;
    const passed = isSameBoot ? uptime() - from.uptime : Math.max(0, wall() - from.wall);
    this.#offset = from.steady + passed - uptime();
    this.#ahead = from.wall - from.steady;
    this.notice();
  }

  reading(): ClockReading {
    return { ...this.moment(), boot: this.#machine.boot, uptime: this.#machine.uptime() };
  }

  /** Logs once each time the wall clock was set. */
  notice(): void {
    const { wall, steady } = this.moment();
    const jumped = wall - steady - this.#ahead;
    if (Math.abs(jumped) < jumpMs) return;
    this.#ahead += jumped;
    const seconds = Math.round(Math.abs(jumped) / 1000);
    const way = jumped > 0 ? "forward" : "back";
    this.#log.warn(
      { seconds, way },
      `This machine's clock was set ${way} by ${seconds} s. Runs use the time that really passed: no sleep, deadline or timeout gets longer or shorter.`,
    );
  }
}

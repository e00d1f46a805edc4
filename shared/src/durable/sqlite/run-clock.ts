import type { Log } from "../../core/engine.ts";
import type { MachineClock } from "./machine-clock.ts";

/**
 * One moment on both clocks, in milliseconds: `wall` for people to read, `steady` for what is to
 * happen when.
 */
export type Moment = { readonly wall: number; readonly steady: number };

/** What is recorded of the clocks: how they stood at one moment. */
export type ClockReading = Moment & Pick<MachineClock, "boot"> & { readonly uptime: number };

/** Both clocks drift apart by less than this unless somebody sets one. */
const jumpMs = 5_000;

/**
 * The time of runs: it goes on evenly whatever the machine's clock is set to, over the lives of all
 * processes that share a store. It began as the wall clock stood then. Within a boot it follows
 * what the system counts; from one boot to the next only the wall clock tells what passed, and
 * where that says less than nothing, nothing did.
 */
export class RunClock {
  readonly #machine: MachineClock;
  readonly #log: Log;
  /** What is added to the machine's uptime. */
  #offset: number;
  /** How far the wall clock was ahead when that was last told. */
  #ahead = 0;

  constructor(machine: MachineClock, log: Log) {
    this.#machine = machine;
    this.#log = log;
    this.#offset = machine.wall() - machine.uptime();
  }

  /** Milliseconds; never goes back while the process lives. */
  now(): number {
    return Math.floor(this.#offset + this.#machine.uptime());
  }

  moment(): Moment {
    return { wall: this.#machine.wall(), steady: this.now() };
  }

  /** Goes on from what was recorded last. */
  goOn(from: ClockReading): void {
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

  /** Tells once of each time the wall clock was set. */
  notice(): void {
    const { wall, steady } = this.moment();
    const jumped = wall - steady - this.#ahead;
    if (Math.abs(jumped) < jumpMs) return;
    this.#ahead += jumped;
    const seconds = Math.round(Math.abs(jumped) / 1000);
    const way = jumped > 0 ? "forward" : "back";
    this.#log.warn(
      { seconds, way },
      `This machine's clock was set ${way} by ${seconds} s. Runs go by the time that really passed: no sleep, deadline or patience is longer or shorter for it.`,
    );
  }
}

/**
 * Loaded into a process before its program (`bun --preload`): its wall clock is off by the
 * milliseconds in the file that SET_CLOCK names, which may change while it runs, as a machine's
 * clock is set. Monotonic time (performance.now, timers) is unchanged.
 */
import { readFileSync } from "node:fs";

const { SET_CLOCK = "" } = process.env;
const RealDate = Date;

function now(): number {
  return RealDate.now() + Number(readFileSync(SET_CLOCK, "utf8"));
}

globalThis.Date = new Proxy(RealDate, {
  construct: (date, given: [], target) => Reflect.construct(date, given.length === 0 ? [now()] : given, target),
  apply: () => new RealDate(now()).toString(),
  get: (date, key) => (key === "now" ? now : Reflect.get(date, key)),
});

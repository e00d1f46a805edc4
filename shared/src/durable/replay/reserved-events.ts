import type { RunEvent } from "../../core/run.ts";

const reserved: readonly string[] = ["run-ended", "run-paused", "run-resumed"];

/** Throws a TypeError for an event only the engine may tell. */
export function assertNotReserved(event: RunEvent): void {
  if (reserved.includes(event.type)) throw new TypeError(`"${event.type}" events belong to the engine.`);
}

import { commandLineOf, innerPid, readProcessTable, sendSignal, startOf } from "../kernel/process-table.ts";

/** The first process of a view, and when it was started. */
export type FirstProcess = { readonly pid: number; readonly startedAt: number };

/** A killed process is gone within milliseconds; this allows for a very busy machine. */
const patienceMs = 10_000;
const pauseMs = 1;

/**
 * Ends the first process of a view whose bwrap has ended, and waits until it is gone. It asks to
 * die with its bwrap only when its view is complete: if bwrap is killed before, it would wait for
 * bwrap's word forever, or run the command. `given` are bwrap's last arguments, by which a first
 * process is found that bwrap did not get to name.
 */
export async function endRemains(first: FirstProcess | undefined, given: readonly string[]): Promise<void> {
  const started = performance.now();
  for (const { pid, startedAt } of first === undefined ? orphans(given) : [first]) {
    if (isThere(pid, startedAt)) sendSignal(pid, "SIGKILL");
    while (isThere(pid, startedAt) && performance.now() - started < patienceMs) await Bun.sleep(pauseMs);
  }
}

function isThere(pid: number, startedAt: number): boolean {
  return startedAt !== 0 && startOf(pid) === startedAt && !isZombie(pid);
}

function isZombie(pid: number): boolean {
  return commandLineOf(pid) === "";
}

/** First processes with these arguments whose bwrap is gone; others' have one with the same. */
function orphans(given: readonly string[]): FirstProcess[] {
  const end = given.map((argument) => `${argument}\0`).join("");
  return [...readProcessTable().values()].filter(
    ({ pid, parent }) =>
      commandLineOf(pid).endsWith(end) && innerPid(pid) === 1 && !commandLineOf(parent).endsWith(end),
  );
}

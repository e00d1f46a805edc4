/** A process that only waits and is late by this much has not run, and most likely no other has. */
const leastMs = 3_000;
const everyMs = 250;

/**
 * Watches whether the machine stands still, as a virtual one that is paused does: tests that fail
 * by it are told apart from those that fail by themselves. `stop` returns what there was, as
 * sentences.
 */
export function watchStalls(): { stop(): readonly string[] } {
  const stalls: string[] = [];
  const begun = performance.now();
  let last = begun;
  const timer = setInterval(() => {
    const now = performance.now();
    const late = now - last - everyMs;
    if (late > leastMs)
      stalls.push(`The machine stood still for ${seconds(late)}, ${seconds(last - begun)} after the start.`);
    last = now;
  }, everyMs);
  return {
    stop() {
      clearInterval(timer);
      return stalls;
    },
  };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

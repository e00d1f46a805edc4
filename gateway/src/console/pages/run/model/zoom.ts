/** A stretch of time in milliseconds since 1970. */
export type Extent = { readonly from: number; readonly to: number };

/** The shortest stretch that is shown. */
const shortestMs = 20;

/** The part of a run that is shown after zooming by a factor; `undefined` is all of it. */
export function zoomed(shown: Extent, whole: Extent, factor: number, at: number): Extent | undefined {
  const length = Math.max(shortestMs, (shown.to - shown.from) * factor);
  if (length >= whole.to - whole.from) return undefined;
  // What is at this moment stays where it is.
  const share = (Math.min(shown.to, Math.max(shown.from, at)) - shown.from) / (shown.to - shown.from);
  return within(at - share * length, length, whole);
}

/** The part that is shown after moving by a share of it. */
export function panned(shown: Extent, whole: Extent, share: number): Extent {
  const length = shown.to - shown.from;
  return within(shown.from + share * length, length, whole);
}

/** The part between two shares of what is shown; `undefined` if it is too short to be meant. */
export function chosenPart(shown: Extent, from: number, to: number): Extent | undefined {
  const length = shown.to - shown.from;
  const [first, last] = [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))];
  if (last - first < 0.01 || (last - first) * length < shortestMs) return undefined;
  return { from: shown.from + first * length, to: shown.from + last * length };
}

function within(from: number, length: number, whole: Extent): Extent {
  const first = Math.max(whole.from, Math.min(from, whole.to - length));
  return { from: first, to: first + length };
}

const [second, hour] = [1_000, 3_600_000];
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800].map((seconds) => seconds * second),
  ...[1, 2, 6, 12, 24, 48, 120, 240].map((hours) => hours * hour),
];

/** Most stretches between the times that an axis names. */
const mostSteps = 4;

/** The round times within a part of a run, both in milliseconds since the run began. */
export function ticksOf(from: number, to: number): { readonly step: number; readonly at: readonly number[] } {
  const step = steps.find((one) => (to - from) / one <= mostSteps) ?? (to - from) / mostSteps;
  const first = Math.ceil(from / step) * step;
  const count = Math.floor((to - first) / step) + 1;
  return { step, at: Array.from({ length: count }, (_, index) => first + index * step) };
}

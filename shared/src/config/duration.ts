const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a time such as `24h`; undefined for a word such as `off`. */
export function durationMs(time: string): number | undefined {
  if (time === "0") return 0;
  const unit = unitMs[time.slice(-1)];
  const count = Number(time.slice(0, -1));
  return unit === undefined || Number.isNaN(count) ? undefined : count * unit;
}

import { counted } from "../../../core/text/counted.ts";
import { isTimeType } from "../database/column-types.ts";
import type { Oddity } from "./oddity.ts";

const fewRows = 10;
/** A step may be so much longer than the usual one: months differ. */
const usual = 1.5;
const gap = 3;
const step = "date_diff('second', before, c)";

/** A time without rows in a series that otherwise has one at every step. */
export const timeGaps: Oddity = {
  looks: ({ type }) =>
    isTimeType(type)
      ? {
          filled: "count(c)",
          least: `min(${step})`,
          step: `median(${step})`,
          most: `quantile_cont(${step}, 0.9)`,
          longest: `max(${step})`,
          fromExample: `arg_max(CAST(before AS VARCHAR), ${step})`,
          toExample: `arg_max(CAST(c AS VARCHAR), ${step})`,
        }
      : undefined,
  say(seen, example) {
    const [steps, longest] = [seen("step"), seen("longest")];
    const isSteady = seen("filled") >= fewRows && seen("least") >= 0 && steps > 0 && seen("most") <= steps * usual;
    if (!isSteady || longest < steps * gap) return undefined;
    return `a gap from ${example("fromExample")} to ${example("toExample")}, the longest: the usual step is ${duration(steps)}`;
  },
};

const units = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

function duration(seconds: number): string {
  const [size, word] = units.find(([unit]) => seconds % unit === 0) ?? [1, "second"];
  return counted(seconds / size, word);
}

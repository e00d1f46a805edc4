import { sayNumber } from "../insights/say-finding.ts";
import { type ColumnProfile, type Oddity, several } from "./oddity.ts";

const numeric = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|FLOAT|DOUBLE|DECIMAL)/;
const reach = 3;
const fewNegative = 0.05;

/** Numbers far from the others, and a few below zero where all others are not. */
export const strangeNumbers: Oddity = {
  looks(column) {
    if (!numeric.test(column.type)) return undefined;
    const [low, high] = fences(column);
    return {
      filled: "count(c)",
      negative: "count(*) FILTER (c < 0)",
      ...(low < high && { outliers: `count(*) FILTER (c < ${low} OR c > ${high})` }),
    };
  },
  say(seen, _, column) {
    const [low, high] = fences(column);
    const [negative, filled] = [seen("negative"), seen("filled")];
    const parts = [
      seen("outliers") > 0
        ? `${several(seen("outliers"), "outlier")} (below ${sayNumber(low)} or above ${sayNumber(high)}, three interquartile ranges outside the middle half)`
        : "",
      negative > 0 && negative < filled * fewNegative
        ? `${several(negative, "negative value")}, all others are not`
        : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? undefined : parts.join("; ");
  },
};

function fences({ quartiles }: ColumnProfile): readonly [number, number] {
  if (quartiles === undefined) return [0, 0];
  const [low, high] = quartiles;
  return high > low ? [low - reach * (high - low), high + reach * (high - low)] : [0, 0];
}

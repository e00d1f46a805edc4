import { counted } from "../../../core/text/counted.ts";
import { isFloat, isNumberType } from "../database/column-types.ts";
import { sayNumber } from "../insights/say-finding.ts";
import type { ColumnProfile, CountByName, Looks, Oddity } from "./oddity.ts";

const reach = 3;
const fewNegative = 0.05;
const mostlyZeros = 0.5;
/** Quantities for which a negative value is normal: a frost, a loss, a place in the south. */
const signed = new Set(
  `temp temperature celsius fahrenheit °c °f c f frost dewpoint windchill minimum balance saldo profit loss margin cashflow net delta diff difference change growth
  variance deviation residual error lat latitude lon lng longitude coord elevation altitude anomaly offset correlation 温度 气温 余额 利润 变化 差额`.split(
    /\s+/,
  ),
);

function maySink(name: string): boolean {
  const words = name.split(/[^\p{L}°]+|(?<=\p{Ll})(?=\p{Lu})/u);
  return words.some((word) => signed.has(word.toLowerCase()));
}

const unitApart = 50;
const unitGap = 10;

/**
 * Numbers far from the others, a few small ones far below all others, as thousands among units are,
 * and a few negative ones when all others are not and the column's
 * name doesn't suggest them.
 */
export const strangeNumbers: Oddity = {
  looks(column) {
    if (!isNumberType(column.type)) return undefined;
    const [low, high] = fences(column);
    return {
      filled: "count(c)",
      ...(isFloat(column.type) && { endless: "count(*) FILTER (NOT isfinite(c))" }),
      negative: "count(*) FILTER (c < 0)",
      zeros: "count(*) FILTER (c = 0)",
      ...smallLooks(column),
      ...(low < high && { outliers: `count(*) FILTER (${outside(column.type, low, high)})` }),
    };
  },
  say(seen, _, column) {
    const [low, high] = fences(column);
    const [negative, zeros, filled] = [seen("negative"), seen("zeros"), seen("filled")];
    const parts = [
      seen("endless") > 0
        ? `${counted(seen("endless"), "value")} NaN or infinite, left out here: in SQL they make sums and means NaN (isfinite tells them)`
        : "",
      seen("outliers") > 0
        ? `${counted(seen("outliers"), "outlier")} (below ${sayNumber(low)} or above ${sayNumber(high)}, three interquartile ranges outside the middle half)`
        : "",
      saySmall(seen, column),
      negative > 0 && negative < filled * fewNegative && !maySink(column.name)
        ? `${counted(negative, "negative value")}, all others are not`
        : "",
      zeros > filled * mostlyZeros && zeros < filled && column.distinct > 2
        ? `mostly zeros: ${zeros} of ${filled}, which its mean and median hide`
        : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? undefined : parts.join("; ");
  },
};

/**
 * How many are far below the lower quartile, and whether any is between them and it. The quartile
 * makes sure that they are few.
 */
function smallLooks({ quartiles: [low] = [0, 0] }: ColumnProfile): Looks {
  if (low <= 0) return {};
  const [apart, gap] = [low / unitApart, low / unitGap];
  return {
    small: `count(*) FILTER (c > 0 AND c < ${apart})`,
    smallMost: `max(c) FILTER (c > 0 AND c < ${apart})`,
    between: `count(*) FILTER (c >= ${apart} AND c < ${gap})`,
  };
}

function saySmall(seen: CountByName, { quartiles: [low] = [0, 0] }: ColumnProfile): string {
  if (low <= 0 || seen("small") < 2 || seen("between") > 0) return "";
  return `${counted(seen("small"), "value")} of at most ${sayNumber(seen("smallMost"))}, no other positive one below ${sayNumber(low / unitGap)}: perhaps in another unit`;
}

/** NaN is greater than every number. */
function outside(type: string, low: number, high: number): string {
  const isOutside = `c < ${low} OR c > ${high}`;
  return isFloat(type) ? `isfinite(c) AND (${isOutside})` : isOutside;
}

function fences({ quartiles }: ColumnProfile): readonly [number, number] {
  if (quartiles === undefined) return [0, 0];
  const [low, high] = quartiles;
  return high > low ? [low - reach * (high - low), high + reach * (high - low)] : [0, 0];
}

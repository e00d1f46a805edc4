import { type ChartTable, isNumeric } from "./chart-table.ts";

const longitude = /^(?:lon|lng|long|longitude|经度)$/i;
const latitude = /^(?:lat|latitude|纬度)$/i;

/**
 * Longitude, latitude and, if there is one, the size of a map's places: as named, or the columns
 * that are called so. Undefined for a map of countries.
 */
export function coordinatesOf(
  table: ChartTable,
  named: { readonly x: number | undefined; readonly numbers: readonly number[]; readonly isNamed: boolean },
): readonly number[] | undefined {
  const { x, numbers, isNamed } = named;
  if (x !== undefined)
    return isNumeric(table, x) && numbers.length > 0 && numbers.length < 3 ? [x, ...numbers] : undefined;
  const called = (pattern: RegExp) =>
    table.columns.findIndex(({ name }, index) => pattern.test(name.trim()) && isNumeric(table, index));
  const [along, up] = [called(longitude), called(latitude)];
  if (along < 0 || up < 0) return undefined;
  const sizes = isNamed ? numbers.filter((index) => index !== along && index !== up) : [];
  return sizes.length > 1 ? undefined : [along, up, ...sizes];
}

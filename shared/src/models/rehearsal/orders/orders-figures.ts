import * as z from "zod";
import { jsonOf } from "../../../core/json.ts";

const ids = z.array(z.string());

/**
 * What each way of computing prints: money in whole cents, so that different ways can be compared
 * exactly.
 */
const figuresSchema = z.object({
  rows: z.int(),
  cancelled: z.int(),
  duplicates: ids,
  returns: ids,
  unpriced: ids,
  regions: z.record(z.string(), z.object({ cents: z.int(), orders: z.int() })),
  months: z.record(z.string(), z.int()),
});

/**
 * The figures of the orders, as the rehearsal's agents report them to each other; money in cents.
 */
export type Figures = z.infer<typeof figuresSchema>;

/**
 * The figures in a tool's result, however the tool formats it: the last line that contains them as
 * JSON, or else a table with a line `kind | name | value | orders` for each.
 */
export function readFigures(text: string): Figures | undefined {
  const lines = [...text.matchAll(/\{\\?"rows\\?":.*\}/g)].map(([json]) => json).reverse();
  for (const line of lines) {
    for (const json of [line, line.replaceAll('\\"', '"')]) {
      const parsed = figuresSchema.safeParse(jsonOf(json));
      if (parsed.success) return parsed.data;
    }
  }
  return readTable(text);
}

function readTable(text: string): Figures | undefined {
  const table = [...text.matchAll(/^(\w+) \| ([\w-]*) \| (-?\d+) \| (\d+|NULL)$/gm)].map(
    ([, kind = "", name = "", value = "", orders = ""]) => ({
      kind,
      name,
      value: Number(value),
      orders: Number(orders),
    }),
  );
  const of = (wanted: string) => table.filter(({ kind }) => kind === wanted);
  const namesOf = (kind: string) => of(kind).map(({ name }) => name);
  return figuresSchema.safeParse({
    rows: of("rows")[0]?.value,
    cancelled: of("cancelled")[0]?.value,
    duplicates: namesOf("duplicate"),
    returns: namesOf("return"),
    unpriced: namesOf("unpriced"),
    regions: Object.fromEntries(of("region").map(({ name, value, orders }) => [name, { cents: value, orders }])),
    months: Object.fromEntries(of("month").map(({ name, value }) => [name, value])),
  }).data;
}

/** Whether two ways agree, ignoring the order in which they list things. */
export function agree(a: Figures, b: Figures): boolean {
  return Bun.deepEquals(sorted(a), sorted(b));
}

/** The sums over all regions, and the best month. */
export function totalsOf({ regions, months }: Figures): {
  readonly cents: number;
  readonly orders: number;
  readonly bestMonth: readonly [month: string, cents: number];
} {
  const rows = Object.values(regions);
  const best = Object.entries(months).sort(([, a], [, b]) => b - a)[0];
  return {
    cents: rows.reduce((sum, row) => sum + row.cents, 0),
    orders: rows.reduce((sum, row) => sum + row.orders, 0),
    bestMonth: best ?? ["none", 0],
  };
}

/** Cents formatted for people: `1,234.50`. */
export function money(cents: number): string {
  return (cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

function sorted(figures: Figures): Figures {
  const { duplicates, returns, unpriced } = figures;
  return { ...figures, duplicates: duplicates.toSorted(), returns: returns.toSorted(), unpriced: unpriced.toSorted() };
}

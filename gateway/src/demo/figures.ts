/** What the demo's report must say, computed here and by nobody else. Money in cents. */
export type Figures = {
  readonly regions: readonly Region[];
  readonly totalCents: number;
  /** `2026-03` */
  readonly bestMonth: string;
  readonly bestMonthCents: number;
  /** Ids of orders that are odd: repeated, returned, without a price. */
  readonly odd: readonly string[];
};

/** One region's completed orders. A return lowers revenue; whether it counts as an order is a matter of taste, so both counts are kept. */
export type Region = {
  readonly name: string;
  readonly cents: number;
  readonly orders: number;
  readonly returns: number;
};

/**
 * The figures of the demo's orders: completed orders only, a repeated order id once, rows without a price left out, returns negative.
 * The file has no quoted fields.
 */
export function figuresOf(csv: string): Figures {
  const seen = new Set<string>();
  const odd: string[] = [];
  const regions = new Map<string, { cents: number; orders: number; returns: number }>();
  const months = new Map<string, number>();
  for (const line of csv.trim().split(/\r?\n/).slice(1)) {
    const [id = "", date = "", region = "", , quantity = "", price = "", status] = line.split(",");
    const repeated = seen.has(id);
    seen.add(id);
    if (repeated || (status === "completed" && (price === "" || Number(quantity) < 0))) odd.push(id);
    if (repeated || status !== "completed" || price === "") continue;
    const cents = Math.round(Number(price) * 100) * Number(quantity);
    const sum = regions.get(region) ?? { cents: 0, orders: 0, returns: 0 };
    const isReturn = Number(quantity) < 0;
    regions.set(region, {
      cents: sum.cents + cents,
      orders: sum.orders + (isReturn ? 0 : 1),
      returns: sum.returns + (isReturn ? 1 : 0),
    });
    const month = date.slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + cents);
  }
  const [bestMonth = "", bestMonthCents = 0] = [...months].sort((a, b) => b[1] - a[1])[0] ?? [];
  const all = [...regions].map(([name, sums]) => ({ name, ...sums }));
  return { regions: all, totalCents: all.reduce((sum, { cents }) => sum + cents, 0), bestMonth, bestMonthCents, odd };
}

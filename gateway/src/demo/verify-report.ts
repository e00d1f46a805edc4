/** One figure that a report should have, and whether it has. */
type FigureCheck = { readonly figure: string; readonly expected: string; readonly found: boolean };

const monthNames = "January February March April May June July August September October November December".split(" ");

/**
 * Looks for every expected figure in a report, however it is laid out: revenue, orders and average
 * order value of each region, the best month and the odd orders. A line about one region alone must
 * have that region's own revenue.
 */
export function verifyReport(report: string, figures: Figures): FigureCheck[] {
  const numbers = numbersIn(report);
  const names = figures.regions.map(({ name }) => name);
  return [
    ...figures.regions.flatMap((region) => regionVerdicts(region, names, report, numbers)),
    { figure: "best month", expected: figures.bestMonth, found: namesMonth(report, figures.bestMonth) },
    ...figures.odd.map((id) => ({ figure: "odd order", expected: id, found: report.includes(id) })),
  ];
}

function regionVerdicts(
  region: Region,
  names: readonly string[],
  report: string,
  all: readonly number[],
): FigureCheck[] {
  const own = report
    .split("\n")
    .filter((line) => names.filter((name) => line.includes(name)).join() === region.name)
    .map(numbersIn)
    .filter((numbers) => numbers.length >= 2);
  const numbers = own.length > 0 ? own.flat() : all;
  const counts = [...new Set([region.orders, region.orders + region.returns])];
  const averages = counts.map((count) => region.cents / 100 / count);
  return [
    { figure: `${region.name} revenue`, expected: money(region.cents / 100), found: has(numbers, region.cents / 100) },
    {
      figure: `${region.name} orders`,
      expected: counts.join(" or "),
      found: counts.some((count) => has(numbers, count)),
    },
    {
      figure: `${region.name} average`,
      expected: averages.map(money).join(" or "),
      found: averages.some((average) => has(numbers, average)),
    },
  ];
}

/** Every number of a text; thousands may be separated by commas, spaces or apostrophes. */
function numbersIn(text: string): number[] {
  const matches = text.match(/-?\d{1,3}(?:[,'\u00a0\u202f ]\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?/g) ?? [];
  return matches.map((match) => Number(match.replace(/[,'\u00a0\u202f ]/g, "")));
}

/** Equal to the cent: a report rounds to two places. */
function has(numbers: readonly number[], expected: number): boolean {
  return numbers.some((number) => Math.abs(number - expected) < 0.00501);
}

function namesMonth(report: string, month: string): boolean {
  const name = monthNames[Number(month.slice(5)) - 1] ?? month;
  return report
    .split("\n")
    .some((line) => /best|highest|strongest|top|peak/i.test(line) && (line.includes(month) || line.includes(name)));
}

function money(amount: number): string {
  return amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/** What the demo's report must say, computed only here. Money in cents. */
type Figures = {
  readonly regions: readonly Region[];
  readonly totalCents: number;
  /** `2026-03` */
  readonly bestMonth: string;
  readonly bestMonthCents: number;
  /** Ids of odd orders: repeated, returned, without a price. */
  readonly odd: readonly string[];
};

/**
 * One region's completed orders. A return lowers revenue; whether it counts as an order is a matter
 * of taste, so both counts are kept.
 */
type Region = {
  readonly name: string;
  readonly cents: number;
  readonly orders: number;
  readonly returns: number;
};

/**
 * The figures of the demo's orders: completed orders only, a repeated order id once, rows without a
 * price left out, returns negative. The file has no quoted fields.
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

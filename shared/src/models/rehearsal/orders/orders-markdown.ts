import { type Figures, money, totalsOf } from "./orders-figures.ts";

/** A report of figures that were computed twice; `checked` describes additional checks. */
export function ordersMarkdown(figures: Figures, ways: readonly string[], checked = ""): string {
  const totals = totalsOf(figures);
  const [month, monthCents] = totals.bestMonth;
  const rows = Object.entries(figures.regions)
    .sort(([, a], [, b]) => b.cents - a.cents)
    .map(([region, { cents, orders }]) => row(region, cents, orders));
  return [
    "# Orders summary",
    "",
    `From \`orders.csv\`: ${figures.rows} rows. Amounts are in the file's own currency, which it does not name.`,
    "",
    "| Region | Total revenue | Orders | Average order value |",
    "| --- | ---: | ---: | ---: |",
    ...rows,
    row("**All**", totals.cents, totals.orders),
    "",
    `**Best month:** ${month}, with ${money(monthCents)}.`,
    "",
    "## Odd in the data",
    "",
    ...oddities(figures).map((oddity) => `- ${oddity}`),
    "",
    "## How it was counted",
    "",
    "Only completed orders count, each order id once. Returns lower the revenue of their region and month but are not orders.",
    `Computed twice, with ${ways.join(" and with ")}; both gave exactly these figures.${checked === "" ? "" : ` ${checked}`}`,
    "",
  ].join("\n");
}

/** The oddities of the file, one sentence each. */
export function oddities({ duplicates, returns, unpriced, cancelled }: Figures): readonly string[] {
  const found = [
    duplicates.length > 0 ? `Repeated order ids, counted once: ${duplicates.join(", ")}.` : undefined,
    returns.length > 0 ? `Returns, with a negative quantity: ${returns.join(", ")}.` : undefined,
    unpriced.length > 0 ? `Completed orders without a price, left out: ${unpriced.join(", ")}.` : undefined,
    cancelled > 0 ? `Orders that were not completed, left out: ${cancelled}.` : undefined,
  ].filter((sentence) => sentence !== undefined);
  return found.length > 0 ? found : ["Nothing."];
}

function row(name: string, cents: number, orders: number): string {
  const average = orders === 0 ? "–" : money(cents / orders);
  return `| ${name} | ${money(cents)} | ${orders} | ${average} |`;
}

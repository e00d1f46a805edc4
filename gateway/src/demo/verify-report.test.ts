import { expect, test } from "bun:test";
import { join } from "node:path";
import { figuresOf, verifyReport } from "./verify-report.ts";

const csv = await Bun.file(join(import.meta.dir, "../../demo/orders.csv")).text();

const small = `order_id,date,region,product,quantity,unit_price,status
1,2026-01-02,North,Chair,2,600.00,completed
1,2026-01-02,North,Chair,2,600.00,completed
2,2026-01-03,North,Chair,-1,100.50,completed
3,2026-02-03,South,Chair,1,,completed
4,2026-02-03,South,Chair,3,10.10,completed
5,2026-02-03,South,Chair,9,999.00,cancelled
6,2026-02-04,South,Chair,1,9.70,completed
`;

const good = `# Report
| Region | Revenue | Orders | Average |
| --- | --- | --- | --- |
| North | 1,099.50 | 1 | 1,099.50 |
| South | 40.00 | 2 | 20.00 |
Best month: January 2026.
Odd: 1 twice, 2 returned, 3 without a price.
`;

function missing(report: string, from = small): string[] {
  return verifyReport(report, figuresOf(from)).flatMap(({ figure, found }) => (found ? [] : [figure]));
}

test("figures follow the rules: completed only, repeated ids once, no price left out, returns negative", () => {
  expect(figuresOf(small)).toEqual({
    regions: [
      { name: "North", cents: 109_950, orders: 1, returns: 1 },
      { name: "South", cents: 4000, orders: 2, returns: 0 },
    ],
    totalCents: 113_950,
    bestMonth: "2026-01",
    bestMonthCents: 109_950,
    odd: ["1", "2", "3"],
  });
});

test("the demo's own file has its oddities", () => {
  const figures = figuresOf(csv);
  expect(figures.regions).toHaveLength(4);
  expect(figures.odd).toHaveLength(3);
});

test("a correct report passes, also if it counts the return as an order", () => {
  expect(missing(good)).toEqual([]);
  expect(missing(good.replace("| 1 | 1,099.50 |", "| 2 | 549.75 |"))).toEqual([]);
});

test("a wrong figure, swapped regions, a wrong month and a missing oddity are each found", () => {
  expect(missing(good.replace("40.00 | 2", "40.10 | 2"))).toEqual(["South revenue"]);
  expect(missing(good.replace("North", "X").replace("South", "North").replace("X", "South"))).toContain(
    "North revenue",
  );
  expect(missing(good.replace("January", "May"))).toEqual(["best month"]);
  expect(missing(good.replace("| North | 1,099.50 | 1 | 1,099.50 |\n", ""))).toContain("North revenue");
  expect(missing("# Report\n")).toContain("odd order");
});

test("a table with the regions as columns is understood", () => {
  const transposed = `|  | North | South |\n| Revenue | 1099.5 | 40 |\n| Orders | 1 | 2 |\n| Average | 1099.50 | 20.0 |\nBest month 2026-01\n1 2 3`;
  expect(missing(transposed)).toEqual([]);
});

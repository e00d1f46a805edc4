import type { Scene, ScriptCall } from "../script.ts";

/**
 * One way to compute the figures: each counts and adds up independently, and prints them as one
 * `RESULT {…}` line.
 */
export type OrdersWay = { readonly title: string; readonly call: ScriptCall };

const pythonCsv = `import csv, json
from collections import Counter
from decimal import Decimal

rows, cancelled, seen = 0, 0, set()
duplicates, returns, unpriced = [], [], []
cents, orders, months = Counter(), Counter(), Counter()
with open("orders.csv", newline="") as file:
    for row in csv.DictReader(file):
        rows += 1
        order = row["order_id"]
        if order in seen:
            duplicates.append(order)
            continue
        seen.add(order)
        if row["status"] != "completed":
            cancelled += 1
            continue
        if row["unit_price"] == "":
            unpriced.append(order)
            continue
        quantity = int(row["quantity"])
        amount = int(Decimal(row["unit_price"]) * 100) * quantity
        cents[row["region"]] += amount
        months[row["date"][:7]] += amount
        if quantity < 0:
            returns.append(order)
        else:
            orders[row["region"]] += 1
regions = {region: {"cents": cents[region], "orders": orders[region]} for region in cents}
print("RESULT " + json.dumps({"rows": rows, "cancelled": cancelled, "duplicates": duplicates, "returns": returns,
                              "unpriced": unpriced, "regions": regions, "months": months}))
`;

const pythonSql = `import csv, json, sqlite3

db = sqlite3.connect(":memory:")
db.execute("create table line (id, date, region, product, quantity integer, price, status)")
with open("orders.csv", newline="") as file:
    db.executemany("insert into line values (?, ?, ?, ?, ?, ?, ?)", list(csv.reader(file))[1:])
db.execute("create view first as select * from line where rowid in (select min(rowid) from line group by id)")
db.execute("""create view sold as select *, cast(round(price * 100) as integer) * quantity as cents
              from first where status = 'completed' and price <> ''""")

def ids(query):
    return [row[0] for row in db.execute(query)]

print("RESULT " + json.dumps({
    "rows": ids("select count(*) from line")[0],
    "cancelled": ids("select count(*) from first where status <> 'completed'")[0],
    "duplicates": ids("select id from line where rowid not in (select min(rowid) from line group by id)"),
    "returns": ids("select id from sold where quantity < 0"),
    "unpriced": ids("select id from first where status = 'completed' and price = ''"),
    "regions": {region: {"cents": cents, "orders": orders} for region, cents, orders in
                db.execute("select region, sum(cents), sum(quantity >= 0) from sold group by region")},
    "months": dict(db.execute("select substr(date, 1, 7), sum(cents) from sold group by 1")),
}))
`;

const awk = String.raw`awk -F, '
function add(list, id) { return list (list == "" ? "" : ",") "\"" id "\"" }
{ sub(/\r$/, "") }
NR == 1 { next }
seen[$1]++ { duplicates = add(duplicates, $1); next }
$7 != "completed" { cancelled++; next }
$6 == "" { unpriced = add(unpriced, $1); next }
{
  amount = sprintf("%.0f", $6 * 100) * $5
  cents[$3] += amount
  months[substr($2, 1, 7)] += amount
  if ($5 < 0) returns = add(returns, $1); else orders[$3]++
}
END {
  for (r in cents) regions = regions (regions == "" ? "" : ",") sprintf("\"%s\":{\"cents\":%d,\"orders\":%d}", r, cents[r], orders[r])
  for (m in months) by = by (by == "" ? "" : ",") sprintf("\"%s\":%d", m, months[m])
  printf "RESULT %s\"rows\":%d,\"cancelled\":%d,\"duplicates\":[%s],\"returns\":[%s],\"unpriced\":[%s],\"regions\":{%s},\"months\":{%s}}\n", "{", NR - 1, cancelled, duplicates, returns, unpriced, regions, by
}' orders.csv`;

const pipes = String.raw`(
body() { tail -n +2 orders.csv | tr -d '\r'; }
first() { body | sort -s -u -t, -k1,1; }
sold() { first | grep ',completed$' | grep -v ',,'; }
list() { sed 's/.*/"&"/' | paste -s -d, -; }
sum() { awk -F, '{ s += sprintf("%.0f", $6 * 100) * $5 } END { printf "%d", s }'; }
join() { paste -s -d, -; }
regions=$(sold | cut -d, -f3 | sort -u | while read -r r; do
  echo "\"$r\":{\"cents\":$(sold | grep ",$r," | sum),\"orders\":$(sold | grep ",$r," | cut -d, -f5 | grep -vc '^-')}"
done | join)
months=$(sold | cut -d, -f2 | cut -c1-7 | sort -u | while read -r m; do echo "\"$m\":$(sold | grep ",$m-" | sum)"; done | join)
echo "RESULT {\"rows\":$(body | wc -l | tr -d ' '),\"cancelled\":$(first | grep -vc ',completed$'),\
\"duplicates\":[$(body | cut -d, -f1 | sort | uniq -d | list)],\
\"returns\":[$(sold | grep ',-[0-9]*,' | cut -d, -f1 | list)],\
\"unpriced\":[$(first | grep ',completed$' | grep ',,' | cut -d, -f1 | list)],\
\"regions\":{$regions},\"months\":{$months}}"
)`;

const soldInSql = `sold AS (
  SELECT *, CAST(round(CAST(unit_price AS DECIMAL(12, 2)) * 100) AS BIGINT) * CAST(quantity AS INTEGER) AS cents
  FROM first WHERE status = 'completed' AND unit_price IS NOT NULL)`;

const oddInSql = `SELECT 'rows' AS kind, '' AS name, count(*) AS value, NULL::BIGINT AS orders FROM line
UNION ALL SELECT 'cancelled', '', count(*), NULL FROM first WHERE status <> 'completed'
UNION ALL SELECT 'duplicate', order_id, 1, NULL FROM line GROUP BY order_id HAVING count(*) > 1
UNION ALL SELECT 'return', order_id, 1, NULL FROM sold WHERE CAST(quantity AS INTEGER) < 0
UNION ALL SELECT 'unpriced', order_id, 1, NULL FROM first WHERE status = 'completed' AND unit_price IS NULL`;

const duckWindows = `WITH line AS (SELECT *, row_number() OVER () AS place FROM read_csv('orders.csv', all_varchar = true)),
first AS (SELECT * FROM line QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY place) = 1),
${soldInSql}
${oddInSql}
UNION ALL SELECT 'region', region, sum(cents), count(*) FILTER (WHERE CAST(quantity AS INTEGER) >= 0) FROM sold GROUP BY region
UNION ALL SELECT 'month', date[1:7], sum(cents), NULL FROM sold GROUP BY date[1:7]`;

const duckSets = `WITH line AS (SELECT * FROM read_csv('orders.csv', all_varchar = true)),
first AS (SELECT DISTINCT ON (order_id) * FROM line),
${soldInSql},
cell AS (SELECT region, date[1:7] AS month, sum(cents) AS cents, sum(CASE WHEN quantity LIKE '-%' THEN 0 ELSE 1 END) AS orders
  FROM sold GROUP BY GROUPING SETS ((region), (date[1:7])))
${oddInSql}
UNION ALL SELECT CASE WHEN month IS NULL THEN 'region' ELSE 'month' END, coalesce(region, month), cents, orders FROM cell`;

const ways: readonly OrdersWay[] = [
  { title: "SQL with window functions", call: { name: "sql_query", args: { sql: duckWindows } } },
  { title: "Python's csv module", call: { name: "python_execute", args: { code: pythonCsv } } },
  { title: "awk", call: { name: "bash", args: { command: awk } } },
  { title: "SQL in Python's sqlite3", call: { name: "python_execute", args: { code: pythonSql } } },
  { title: "sort, grep and cut", call: { name: "bash", args: { command: pipes } } },
  { title: "SQL with grouping sets", call: { name: "sql_query", args: { sql: duckSets } } },
];

/** The ways the offered tools allow, best first; neighbours differ in kind where possible. */
export function waysFor(scene: Scene): readonly OrdersWay[] {
  return ways.filter((way) => scene.tools.has(way.call.name));
}

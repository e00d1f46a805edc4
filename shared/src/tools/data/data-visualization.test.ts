import { afterAll, beforeAll, expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import { type DataScene, dataScene } from "../../testing/data/data.ts";
import { dataVisualization } from "./data-visualization.ts";
import { visualizationPreparation } from "./visualization-preparation.ts";
import { writeReport } from "./write-report.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  const months = Array.from({ length: 12 }, (_, at) => `2024-${String(at + 1).padStart(2, "0")}-01,${100 + 10 * at}`);
  await scene.write("sales.csv", `month,Revenue (EUR)\n${months.join("\n")}\n`);
  await scene.write("地区.csv", "地区,销售额（元）\n华东,500\n华南,120\n华北,80\n");
  await scene.write("evil.csv", 'name,n\n"<script>alert(1)</script>",1\nb,2\n');
});
afterAll(() => scene[Symbol.asyncDispose]());

async function draw(items: unknown, options: Record<string, unknown> = {}) {
  await scene.write("charts.json", JSON.stringify(items));
  return scene.call(dataVisualization(scene), { json_path: "charts.json", ...options });
}

test("a PNG has the size of its chart, and chart and findings are stored beside it", async () => {
  const { text, isError } = await draw([{ csvFilePath: "sales.csv", chartTitle: "Sales" }], { output_type: "png" });
  expect(isError).toBe(false);
  expect(text).toContain("visualization/sales.png");
  expect(text).toContain("rises on the whole from 2024-01-01 to 2024-12-01, by about 10 a step");
  const png = Buffer.from(await Bun.file(join(scene.workspace.root, "visualization/sales.png")).bytes());
  expect(png.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
  expect(png.readUInt32BE(16)).toBeGreaterThan(1000);
  expect(png.readUInt32BE(20)).toBeGreaterThan(500);
  expect(await scene.read("visualization/sales.md")).toStartWith("## Sales Insights\n1. ");
});

test("an SVG contains title, axis titles with units and labels, Chinese ones too", async () => {
  const items = [
    { csvFilePath: "sales.csv", chartTitle: "Sales" },
    { csvFilePath: "地区.csv", chartTitle: "各地区销售额占比", chart: "pie" },
  ];
  const { text } = await draw(items, { output_type: "svg", language: "zh" });
  expect(text).toContain("2 of 2 charts drawn.");
  expect(text).toContain("华东 占图中销售额（元）的一半以上");
  const svg = await scene.read("visualization/sales.svg");
  for (const label of [">Sales<", ">Revenue (EUR)<", ">month<"]) expect(svg).toContain(label);
  const chinese = await scene.read("visualization/地区.svg");
  for (const label of [">各地区销售额占比<", ">华东<"]) expect(chinese).toContain(label);
});

test("an HTML page contains picture, data and what draws them, loads nothing and runs only its own scripts", async () => {
  await draw([{ csvFilePath: "evil.csv", chartTitle: "<b>T</b>" }], { output_type: "html" });
  const html = await scene.read("visualization/evil.html");
  expect(html).toContain("<svg");
  expect(html).toContain("&lt;script&gt;alert(1)");
  expect(html).toContain("\\u003cscript>alert(1)");
  expect(html).not.toContain("<script>alert");
  expect(html.replaceAll(/<script>[\s\S]*?<\/script>/g, "")).not.toMatch(/(?:src|href)="(?!data:)/);
  const [policy = ""] = /default-src[^"]*/.exec(html) ?? [];
  expect(policy).toMatch(/^default-src 'none'; .*; script-src( 'sha256-[^']+'){2}$/);
  const run = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script);
  const hashes = run.map((script) => new Bun.CryptoHasher("sha256").update(script).digest("base64"));
  expect(policy).toEndWith(hashes.map((hash) => ` 'sha256-${hash}'`).join(""));
});

const monthNames = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const years = [2021, 2022, 2023, 2024];
const lineAYear = "Drawn: line, x = month, 4 series (2021, 2022, 2023, 2024), 48 points; not drawn: nothing.";
/** Sales that peak in July and grow every year. */
const sold = (year: number, month: number) => 100 * (year - 2020) - Math.abs(month - 6);

test("monthly totals with one line per year, in each natural layout, are drawn along the months, and the result says what was drawn", async () => {
  const wide = (labels: readonly (string | number)[]) => [
    "month,2021,2022,2023,2024",
    ...labels.map((month, at) => [month, ...years.map((year) => sold(year, at))].join()),
  ];
  const long = (labels: readonly (string | number)[]) => [
    "year,month,sales",
    ...years.flatMap((year) => labels.map((month, at) => `${year},${month},${sold(year, at)}`)),
  ];
  const numbers = monthNames.map((_, at) => at + 1);
  const shapes = {
    numbered: wide(numbers),
    named: wide(monthNames),
    longed: long(numbers),
    longNamed: long(monthNames),
  };
  for (const [name, lines] of Object.entries(shapes)) await scene.write(`${name}.csv`, lines.join("\n"));
  const item = (name: string, more: object) => ({
    csvFilePath: `${name}.csv`,
    chartTitle: name,
    chart: "line",
    ...more,
  });
  const rows = { x: "Month", y: "sales", series: "year" };
  const { text, isError } = await draw(
    [item("numbered", {}), item("named", { y: years.map(String) }), item("longed", rows), item("longNamed", rows)],
    { output_type: "svg" },
  );
  expect(isError).toBe(false);
  const told = text.match(/Drawn: .*/g);
  const byYear = lineAYear.replace("x = month, 4 series", "x = month, y = sales, 4 series by year");
  expect(told).toEqual([lineAYear, lineAYear, byYear, byYear]);
  for (const name of Object.keys(shapes)) {
    const svg = await scene.read(`visualization/${name}.svg`);
    expect(svg.match(/aria-roledescription="line mark"/g)).toHaveLength(4);
    for (const year of years) expect(svg).toContain(`>${year}<`);
  }
  const axis = (await scene.read("visualization/longNamed.svg")).match(/>(?:Jan|Feb|Jul|Dec)</g);
  expect(axis).toEqual([">Jan<", ">Feb<", ">Jul<", ">Dec<"]);
});

test("ambiguous columns are never guessed: the refusal lists them and says how to name them", async () => {
  await scene.write("open-long.csv", "year,month,sales\n2023,Jan,1\n2023,Feb,2\n2024,Jan,3\n2024,Feb,4\n");
  await scene.write("shared.csv", "month,units\n2024-01,1\n2024-01,9\n2024-02,3\n");
  await scene.write("text.csv", "month,units\n2024-01,1\n2024-02,n/a\n");
  await scene.write("headless.csv", "1,2\n3,4\n");
  await scene.write("twelve.csv", `year,${monthNames.join()}\n2024,${monthNames.map((_, at) => at).join()}\n`);
  const item = (name: string, more: object = {}) => ({ csvFilePath: `${name}.csv`, chartTitle: name, ...more });
  const items = [
    [
      item("open-long"),
      "It is open whether x is year or month. The columns: year (an order), month (names), sales (numbers).",
    ],
    [item("shared"), 'Several rows share their month. Say how they become one value with "aggregate": sum,'],
    [item("text", { y: "units" }), 'y: units holds no numbers ("n/a", for example).'],
    [item("text", {}), "No column holds numbers."],
    [item("shared", { y: "unit" }), 'There is no column "unit".'],
    [item("headless"), "The first row of headless.csv names no columns: it holds only numbers."],
    [item("twelve"), "There are 12 columns of numbers, more than the 10 that can be told apart."],
    [item("shared", { chart: "pie", series: "month" }), "No column says what the numbers go along."],
    [item("shared", { chart: "scatter", x: "month", y: "units" }), "A scatter takes two columns of numbers, x and y."],
  ] as const;
  const { text } = await draw(items.map(([one]) => one));
  expect(text).toStartWith("0 of 9 charts drawn.");
  const refusals = text.split("\n\n").slice(1);
  for (const [at, [, reason]] of items.entries()) expect(refusals[at]).toContain(`Not drawn: ${reason}`);
  expect(text).toContain('"chart": "line", "x": "month", "y": "sales", "series": "year", "aggregate": "sum"');
});

test("rows at the same place become one value as requested, and findings are about what is drawn", async () => {
  const days = Array.from(
    { length: 40 },
    (_, at) => `2024-0${1 + Math.floor(at / 10)},${at % 2 ? "N" : "S"},${at},${at === 7 ? 900 : 5}`,
  );
  await scene.write("days.csv", `month,region,units,stock\n${days.join("\n")}\n`);
  const item = (chartTitle: string, more: object) => ({ csvFilePath: "days.csv", chartTitle, x: "month", ...more });
  const { text } = await draw(
    [
      item("Sum", { y: "units", aggregate: "sum" }),
      item("Mean", { y: "units", aggregate: "mean", series: "region" }),
      item("Count", { aggregate: "count", chart: "bar" }),
    ],
    { output_type: "svg" },
  );
  expect(text.match(/Drawn: .*/g)).toEqual([
    "Drawn: line, x = month, y = units, 4 points; not drawn: column region, stock.",
    "Drawn: line, x = month, y = mean of units, 2 series by region (S, N), 8 points; not drawn: column stock.",
    "Drawn: bar, x = month, y = count, 4 points; not drawn: column region, units, stock.",
  ]);
  expect(JSON.parse(await scene.read("visualization/days.json"))).toMatchObject({
    columns: [{ name: "month" }, { name: "units" }],
    rows: [
      ["2024-01", 45],
      ["2024-02", 145],
      ["2024-03", 245],
      ["2024-04", 345],
    ],
  });
  expect(text).not.toContain("900");
  expect(text).not.toContain("stock has");
});

test("a redrawn chart replaces the former one, with its pictures and marked copies; another title is another chart unless the name is given", async () => {
  await scene.write("again.csv", await scene.read("sales.csv"));
  const item = { csvFilePath: "again.csv", chartTitle: "Again" };
  await draw([item], { output_type: "png" });
  await draw([{ chartPath: "visualization/again.png", insights_id: [1] }], {
    output_type: "png",
    tool_type: "insight",
  });
  expect(await scene.exists("visualization/again_new.png")).toBe(true);
  await draw([item], { output_type: "svg" });
  expect(await scene.exists("visualization/again.png")).toBe(true);
  const { text } = await draw(
    [
      { ...item, chart: "bar" },
      { ...item, chartTitle: "Other" },
    ],
    { output_type: "svg" },
  );
  expect(text.match(/Chart saved in: \S+/g)).toEqual([
    "Chart saved in: visualization/again.svg",
    "Chart saved in: visualization/again_2.svg",
  ]);
  const named = { ...item, name: "by_month" };
  const again = await draw([named, { ...named, chartTitle: "Better" }], { output_type: "svg" });
  expect(again.text.match(/Chart saved in: \S+/g)).toEqual([
    "Chart saved in: visualization/by_month.svg",
    "Chart saved in: visualization/by_month.svg",
  ]);
  for (const stale of ["again.png", "again_new.png", "again_new.json"])
    expect({ stale, there: await scene.exists(`visualization/${stale}`) }).toEqual({ stale, there: false });
});

test("a picture has the requested name", async () => {
  const item = { csvFilePath: "sales.csv", chartTitle: "Named", name: "revenue chart.png" };
  const { text } = await draw([item, { ...item, name: "../outside" }], { output_type: "png" });
  expect(text).toContain("is a file's name, without folders\n  → at [1].name");
  expect((await draw([item], { output_type: "png" })).text).toContain("visualization/revenue chart.png");
});

test("a model with vision sees the picture, whatever file type was requested", async () => {
  for (const output_type of ["png", "svg", "html"]) {
    const { images } = await draw([{ csvFilePath: "sales.csv", chartTitle: output_type }], { output_type });
    expect(images).toHaveLength(1);
    const png = Buffer.from(images?.[0]?.data ?? "", "base64");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect(png.readUInt32BE(16)).toBeLessThan(1000);
  }
});

test("if there are too many lines to distinguish, the largest are drawn", async () => {
  const months = Array.from({ length: 8 }, (_, at) => `2024-0${at + 1}`);
  const rows = months.flatMap((month) => Array.from({ length: 15 }, (_, at) => `${month},P${at},${100 + at}`));
  await scene.write("lines.csv", `month,product,units\n${rows.join("\n")}\n`);
  const { text } = await draw([{ csvFilePath: "lines.csv", chartTitle: "Lines" }], { output_type: "svg" });
  expect(text).toContain("Only the 10 of 15 names in product with the largest sums are drawn.");
  const svg = await scene.read("visualization/lines.svg");
  expect(svg).toContain(">P14<");
  expect(svg).not.toContain(">P4<");
});

test("insight mode draws the picked findings into a copy, says which, and leaves the plain chart as it was", async () => {
  await scene.write("turn.csv", await scene.read("sales.csv"));
  await draw([{ csvFilePath: "turn.csv", chartTitle: "Turn" }], { output_type: "svg" });
  const plain = await scene.read("visualization/turn.svg");
  const again = [{ chartPath: "visualization/turn.svg", insights_id: [1] }];
  const { text, isError } = await draw(again, { output_type: "svg", tool_type: "insight" });
  expect(isError).toBe(false);
  expect(text).toContain("visualization/turn_new.svg (visualization/turn.svg is as it was)\n1. Revenue (EUR) rises");
  expect(await scene.read("visualization/turn.svg")).toBe(plain);
  expect(await scene.read("visualization/turn_new.svg")).toContain("Revenue (EUR) rises on the whole");
  const wrong = await draw([{ chartPath: "visualization/turn.svg", insights_id: [99] }], { tool_type: "insight" });
  expect(wrong.text).toContain("There is no finding 99: visualization/turn.svg has 2.");
  const none = await draw([{ chartPath: "visualization/none.png", insights_id: [1] }], { tool_type: "insight" });
  expect(none.text).toContain("There is no chart visualization/none.png");
});

test("a missing file, an empty one and one without numbers are each reported, and the rest is drawn", async () => {
  await scene.write("visualization/beside.csv", "a,n\nx,1\ny,3\n");
  await scene.write("empty-rows.csv", "a,n\n");
  await scene.write("no-numbers.csv", "city\nBerlin\nRome\nBerlin\n");
  const named = ["gone.csv", "empty-rows.csv", "no-numbers.csv", "beside.csv"];
  const { text } = await draw(named.map((csvFilePath) => ({ csvFilePath, chartTitle: csvFilePath })));
  expect(text).toStartWith("2 of 4 charts drawn.");
  expect(text).toContain("Not drawn: The path gone.csv does not exist.");
  expect(text).toContain("Not drawn: empty-rows.csv has no rows.");
  expect(text).toContain("## no-numbers.csv\nChart saved in: visualization/no-numbers.png");
});

test("if there are too many names to distinguish, the first are drawn, and the result says so", async () => {
  const rows = Array.from({ length: 90 }, (_, at) => `A rather long product name, number ${at};${90 - at}`);
  await scene.write("many.csv", `product;units\n${rows.join("\n")}\n`);
  const { text } = await draw([{ csvFilePath: "many.csv", chartTitle: "Many" }], { output_type: "svg" });
  expect(text).toContain("Only the first 60 of 90 names are drawn");
  expect(await scene.read("visualization/many.svg")).toContain(">A rather long product name, number 59<");
});

test("of a file with more rows than a chart takes, the result says how many are not drawn", async () => {
  const rows = (count: number) => Array.from({ length: count }, (_, at) => `${at},${(at * 7) % 101}`).join("\n");
  await scene.write("long.csv", `a,b\n${rows(6_200)}\n`);
  await scene.write("longer.csv", `a,b\n${rows(5_001)}\n`);
  await scene.write("whole.csv", `a,b\n${rows(5_000)}\n`);
  const item = (name: string) => ({ csvFilePath: `${name}.csv`, chartTitle: name, chart: "histogram", y: "a" });
  const own = { ...item("long"), chartTitle: "own", spec: { mark: "bar", encoding: { x: { field: "a", bin: true } } } };
  const { text } = await draw([item("long"), item("longer"), item("whole"), own], { output_type: "svg" });
  expect(text.match(/Only the first .*/g)).toEqual([
    "Only the first 5000 of 6200 rows were read. Sum the data up first.",
    "Only the first 5000 of 5001 rows were read. Sum the data up first.",
    "Only the first 5000 of 6200 rows were read. Sum the data up first.",
  ]);
});

test("a spec of the model's own is drawn with the file's data", async () => {
  const spec = { mark: "area", encoding: { x: { field: "month", type: "temporal", title: "Own axis" } } };
  await scene.write("own.csv", await scene.read("sales.csv"));
  await draw([{ csvFilePath: "own.csv", chartTitle: "Own", spec }], { output_type: "svg" });
  expect(await scene.read("visualization/own.svg")).toContain(">Own axis<");
});

test("hostile specs are refused, and the good chart is still drawn", async () => {
  const reach = (spec: unknown) => ({ csvFilePath: "evil.csv", chartTitle: "evil", spec });
  const items = [
    reach({ data: { url: "file:///etc/passwd" }, mark: "bar" }),
    reach({ layer: [{ data: { url: "http://127.0.0.1:9/" }, mark: "bar" }] }),
    reach({ mark: { type: "image" }, encoding: { url: { value: "file:///etc/passwd" } } }),
    reach({
      mark: "bar",
      transform: [{ calculate: "constructor.constructor('return process')()", as: "z" }],
      encoding: { x: { field: "z" } },
    }),
    reach({ mark: "point", width: 1_000_000, encoding: { x: { field: "n", type: "quantitative" } } }),
    { csvFilePath: "/etc/passwd", chartTitle: "outside" },
    { csvFilePath: "sales.csv", chartTitle: "Good" },
  ];
  const { text, isError } = await draw(items, { output_type: "png" });
  expect(isError).toBe(true);
  expect(text).toStartWith("1 of 7 charts drawn.");
  expect(text).not.toContain("root:x");
});

test("an expression reaches neither functions of this runtime nor files nor addresses", async () => {
  const expressions = [
    "constructor.constructor('return process')()",
    "datum.constructor.constructor('return process.env')()",
    "datum['__proto__']['constructor']('return 1')()",
    "event.view.process.env",
    "load('file:///etc/passwd')",
    "import('node:fs')",
    "(() => globalThis)()",
    "replace('x', /(?=x)/, this)",
  ];
  const items = expressions.map((calculate, at) => ({
    csvFilePath: "evil.csv",
    chartTitle: `expression ${at}`,
    spec: {
      transform: [{ calculate, as: "reached" }],
      mark: "text",
      encoding: { text: { field: "reached", type: "nominal" } },
    },
  }));
  const { text } = await draw(items, { output_type: "svg" });
  for (const item of items) {
    const told = text.slice(text.indexOf(`## ${item.chartTitle}\n`)).split("\n## ")[0] ?? "";
    if (told.includes("Not drawn: ")) continue;
    const svg = await scene.read(/Chart saved in: (\S+)/.exec(told)?.[1] ?? "");
    expect({ told, svg }).not.toMatchObject({
      svg: expect.stringMatching(/root:x|PATH|object (?:process|global)|LANG/),
    });
  }
});

test("data from an address is refused wherever a spec names it", async () => {
  const from = { data: { url: "http://127.0.0.1:9/x.json" }, key: "a", fields: ["b"] };
  const specs = [
    { transform: [{ lookup: "name", from }], mark: "bar" },
    { hconcat: [{ data: { url: "file:///etc/passwd", format: { type: "csv" } }, mark: "bar" }] },
    { mark: "geoshape", data: { url: "data:application/json,[]" } },
    { mark: { type: "bar", href: "javascript:alert(1)" } },
    { datasets: { d: { url: "file:///etc/passwd" } }, mark: "bar" },
  ];
  const items = specs.map((spec, at) => ({ csvFilePath: "evil.csv", chartTitle: `address ${at}`, spec }));
  const { text } = await draw(items, { output_type: "svg" });
  expect(text).toStartWith("0 of 5 charts drawn.");
  expect(text.match(/A chart loads nothing: take out spec\./g)).toHaveLength(5);
});

test("a spec that generates a billion rows is stopped by the memory limit", async () => {
  const spec = { layer: [{ data: { sequence: { start: 0, stop: 1e9 } }, mark: "point" }] };
  const { text } = await draw([{ csvFilePath: "sales.csv", chartTitle: "Bomb", spec }]);
  expect(text).toContain("more than 1.5 GB");
});

test("a JSON file that does not fit is refused with the place of the error", async () => {
  expect((await draw([{ csvFilePath: "sales.csv" }])).text).toContain("chartTitle");
  await scene.write("broken.json", "[{");
  const broken = await scene.call(dataVisualization(scene), { json_path: "broken.json" });
  expect(broken.text).toStartWith("broken.json is not JSON");
});

test("charts are listed in the call itself, or in a file, and not in both", async () => {
  const charts = [{ csvFilePath: "sales.csv", chartTitle: "Listed", name: "listed" }];
  const call = (input: object) => scene.call(dataVisualization(scene), { output_type: "svg", ...input });
  expect((await call({ charts })).text).toContain("visualization/listed.svg");
  const marked = await call({ tool_type: "insight", charts: [{ chartPath: "listed.svg", insights_id: [1] }] });
  expect(marked.text).toContain("visualization/listed_new.svg");
  const unfit = await call({ charts: [{ csvFilePath: "sales.csv" }] });
  expect(unfit).toMatchObject({ isError: true, text: expect.stringMatching(/^charts: [\s\S]*chartTitle/) });
  for (const input of [{}, { charts, json_path: "charts.json" }])
    expect(await call(input)).toMatchObject({ isError: true, text: expect.stringContaining("either charts or") });
});

test("preparation runs Python, and says when no JSON file was named", async () => {
  const said: string[] = [];
  const python = defineTool({
    name: "python_execute",
    description: "",
    input: z.strictObject({ code: z.string() }),
    effect: "once",
    run: async ({ code }) => {
      said.push(code);
      return code;
    },
  });
  const prepare = (code: string) => scene.call(visualizationPreparation({ python }), { code_type: "insight", code });
  expect((await prepare("charts.json")).text).toBe("charts.json");
  expect((await prepare("nothing")).text).toContain('"insights_id"');
  expect(said).toEqual(["charts.json", "nothing"]);
  expect((await stat(join(scene.workspace.root, ".manyhands"))).isDirectory()).toBe(true);
});

test("a report is one page with its pictures inside and Markdown beside it", async () => {
  await scene.write("report.csv", await scene.read("sales.csv"));
  await draw([{ csvFilePath: "report.csv", chartTitle: "Report" }], { output_type: "png" });
  const markdown =
    "Up.\n\n![Sales](visualization/report.png)\n\n|a|b|\n|-|-|\n|1|2|\n\n<script>x</script> [bad](javascript:x) [good](https://example.org)";
  const { text } = await scene.call(writeReport(), { title: "Q <1>", markdown });
  expect(text).toBe("Written: report.md and report.html.");
  expect(await scene.read("report.md")).toStartWith("# Q <1>\n\nUp.");
  const html = await scene.read("report.html");
  expect(html).toContain("<h1>Q &lt;1&gt;</h1>");
  expect(html).toContain('<img src="data:image/png;base64,');
  expect(html).toContain("<td>2</td>");
  expect(html).not.toMatch(/<script|javascript:/);
  expect(html).toContain('href="https://example.org"');
});

test("a report takes pictures of the workspace only", async () => {
  for (const source of ["https://example.org/a.png", "../../secret.png", "sales.csv", "/etc/passwd"]) {
    const { isError } = await scene.call(writeReport(), { title: "T", markdown: `![x](${source})`, path: "bad" });
    expect({ source, isError }).toEqual({ source, isError: true });
  }
  expect(await scene.exists("bad.html")).toBe(false);
});

test("a box chart, a heat map and stacked bars are drawn as named, and refused with what they need", async () => {
  const rows = Array.from({ length: 60 }, (_, at) => `${"abc"[at % 3]},${2020 + (at % 4)},${(at * 7) % 23}`);
  await scene.write("spread.csv", `group,year,value\n${rows.join("\n")}\n`);
  const draw = (item: object) =>
    scene.call(dataVisualization(scene), {
      charts: [{ csvFilePath: "spread.csv", chartTitle: JSON.stringify(item), ...item }],
      output_type: "svg",
    });
  const box = await draw({ chart: "box", x: "group", y: "value", name: "box" });
  expect(box.text).toContain("Drawn: box, x = group, y = value, 60 points; not drawn: column year.");
  expect(box.text).toContain("No findings are computed for a box chart.");
  expect(await scene.read("visualization/box.svg")).toContain("<svg");
  const cells = await draw({
    chart: "heatmap",
    x: "year",
    y: "value",
    series: "group",
    aggregate: "mean",
    name: "heat",
  });
  expect(cells.text).toContain("Drawn: heatmap, x = year, y = mean of value, 3 series by group (a, b, c), 12 points");
  const stacked = await draw({
    chart: "stacked",
    x: "year",
    y: "value",
    series: "group",
    aggregate: "sum",
    name: "pile",
  });
  expect(stacked.text).toContain("Drawn: stacked, x = year, y = value, 3 series by group");
  for (const [item, why] of [
    [{ chart: "box", x: "group", y: ["value", "year"] }, "A box chart takes one column of numbers in y"],
    [{ chart: "stacked", x: "group", y: "value", aggregate: "sum" }, "A stacked chart needs a series"],
    [{ chart: "heatmap", x: "group", y: "value", aggregate: "sum" }, "A heat map takes x, the column that goes down"],
  ] as const)
    expect([why, await draw(item)]).toEqual([why, { isError: true, text: expect.stringContaining(why) }]);
});

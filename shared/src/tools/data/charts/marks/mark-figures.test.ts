import { expect, test } from "bun:test";
import type { Finding } from "../../insights/finding.ts";
import type { Plot } from "../chart-roles.ts";
import type { ChartSpec } from "../chart-spec.ts";
import { chartFrame } from "./chart-frame.ts";
import { withMarks } from "./insight-marks.ts";

type Layer = {
  readonly data: { readonly values: readonly Readonly<Record<string, unknown>>[] };
  readonly mark: Readonly<Record<string, unknown>>;
  readonly encoding: Readonly<Record<string, unknown>>;
};
const finding = (type: string, at: readonly string[], figures: Finding["figures"], series = "n"): Finding => ({
  ...{ type, at, figures, series, strength: 1 },
});
const months: Plot = {
  columns: [
    { name: "month", kind: "order" },
    { name: "n", kind: "number" },
  ],
  rows: [
    ["Jan", 10],
    ["Feb", 30],
    ["Mar", null],
    ["Apr", 20],
    ["May", 60],
  ],
  roles: { along: 0, measures: [1], parts: undefined },
};
const across: ChartSpec = { mark: "line", height: 99, encoding: { x: { field: "month" }, y: { field: "n" } } };
const down: ChartSpec = {
  mark: "bar",
  encoding: { y: { field: "month" }, x: { field: "n" }, yOffset: { field: "g" } },
};

/** The marks that findings add: kind, text, the values that they stand at, and how. */
function marks(plot: Plot, spec: ChartSpec, findings: readonly Finding[], language: "en" | "zh" = "en") {
  const { layer = [], ...rest } = withMarks({ ...plot, spec, language }, findings);
  const [first, ...added] = layer as Layer[];
  const told = added
    // A text is drawn twice: its outline first.
    .filter(({ mark }) => mark.color !== "white")
    .map(({ data, mark, encoding }) => ({
      ...{ type: mark.type, text: mark.text, values: data.values, on: Object.keys(encoding).join() },
    }));
  return { first, rest, told };
}
const point = (month: string, n: number) => ({ month, n, series: "n", value: n });
const mark = (type: string, text: string | undefined, values: readonly object[], on = "x,y") => ({
  type,
  text,
  values,
  on,
});

test("a chart keeps what it is, with the marks over it", () => {
  const { first, rest } = marks(months, across, [finding("turning_point", ["May"], {})]);
  expect([first, rest]).toEqual([{ mark: "line", encoding: across.encoding } as never, { height: 99 }]);
  for (const unchanged of [[], [finding("unknown", [], {})], [finding("page_hinkley", ["Jan"], {})]])
    expect(withMarks({ ...months, spec: across, language: "en" }, unchanged)).toBe(across);
});

test.each<[Finding, readonly object[]]>([
  [
    finding("abnormal_value", ["May", "Jan", "Dec"], { count: 2 }),
    [
      mark("point", undefined, [point("Jan", 10), point("May", 60)]),
      mark("text", "10", [point("Jan", 10)]),
      mark("text", "60", [point("May", 60)]),
    ],
  ],
  ...["statistics_abnormal", "lof_outlier"].map((type): [Finding, readonly object[]] => [
    finding(type, ["May"], { count: 1 }),
    [mark("point", undefined, [point("May", 60)]), mark("text", "60", [point("May", 60)])],
  ]),
  [
    finding("turning_point", ["Feb"], { value: 30 }),
    [
      mark("rule", undefined, [point("Feb", 30)], "x"),
      mark("point", undefined, [point("Feb", 30)]),
      mark("text", "Feb", [point("Feb", 30)]),
    ],
  ],
  [finding("majority_value", ["May"], { share: 0.506 }), [mark("text", "51 %", [point("May", 60)])]],
  [
    finding("statistics_base", [], { mean: 30 }),
    [mark("rule", undefined, [{ n: 30 }], "y"), mark("text", "mean 30", [{ month: "May", n: 30 }])],
  ],
  // By its place among the points: a month without a value has none.
  [
    finding("overall_trend", [], { start: 5, slope: 2 }),
    [
      mark("line", undefined, [
        { month: "Jan", n: 5 },
        { month: "May", n: 11 },
      ]),
    ],
  ],
  [
    finding("page_hinkley", ["Apr"], { before: 20, after: 40 }),
    [
      mark("rule", undefined, [point("Apr", 20)], "x"),
      mark("line", undefined, [
        { month: "Jan", n: 20 },
        { month: "Feb", n: 20 },
      ]),
      mark("text", "20", [{ month: "Feb", n: 20 }]),
      mark("line", undefined, [
        { month: "Apr", n: 40 },
        { month: "May", n: 40 },
      ]),
      mark("text", "40", [{ month: "May", n: 40 }]),
    ],
  ],
  [
    finding("volatility", [], { level: 30, step: 8 }),
    [
      mark("rect", undefined, [{ n: 26, upper: 34 }], "y,y2"),
      mark("text", "typical step 8", [{ month: "May", n: 34 }]),
    ],
  ],
])("a finding is marked where it is, with its figures: %#", (one, expected) => {
  expect(marks(months, across, [one]).told).toEqual([...expected] as never);
});

test("findings are marked one over the other, in the chart's language, also where the bars lie", () => {
  const two = [finding("statistics_base", [], { mean: 30 }), finding("majority_value", ["Jan"], { share: 0.6 })];
  expect(marks(months, across, two, "zh").told.map(({ text }) => text)).toEqual([undefined, "均值 30", "60 %"]);
  expect(marks(months, down, two).told).toEqual([
    mark("rule", undefined, [{ n: 30 }], "x"),
    mark("text", "mean 30", [{ month: "Jan", n: 30 }]),
    mark("text", "60 %", [point("Jan", 10)], "x,y,yOffset"),
  ] as never);
});

test("a figure stands over its point, and beside the end of a bar that lies", () => {
  const place = (spec: ChartSpec) => {
    const { layer } = withMarks({ ...months, spec, language: "en" }, [
      finding("majority_value", ["Jan"], { share: 0.6 }),
    ]);
    const { align, dx, dy } = (layer as Layer[]).at(-1)?.mark ?? {};
    return [align, dx, dy];
  };
  expect([place(across), place(down)]).toEqual([
    ["center", undefined, -16],
    ["left", 12, undefined],
  ]);
});

test("of several series the one that a finding is about is marked", () => {
  const shops: Plot = {
    columns: [...months.columns, { name: "shop", kind: "name" }],
    rows: [
      ["Jan", 1, "A"],
      ["Jan", 2, "B"],
      ["Feb", 3, "A"],
      ["Feb", 4, "B"],
    ],
    roles: { along: 0, measures: [1], parts: 2 },
  };
  const [, line] = marks(shops, across, [finding("abnormal_value", ["Feb"], {}, "n (B)")]).told;
  expect(line).toMatchObject({ text: "4", values: [{ month: "Feb", n: 4, shop: "B" }] });
  const wide: Plot = {
    columns: [...months.columns, { name: "m", kind: "number" }],
    rows: [
      ["Jan", 1, 5],
      ["Feb", 3, 7],
    ],
    roles: { along: 0, measures: [1, 2], parts: undefined },
  };
  const folded = { mark: "line", encoding: { x: { field: "month" }, y: { field: "value" } } };
  const [, second] = marks(wide, folded, [finding("abnormal_value", ["Feb"], {}, "m")]).told;
  expect(second).toMatchObject({ text: "7", values: [{ series: "m", value: 7 }] });
});

test("a chart without a place and a measure on its axes has no frame", () => {
  const frame = (spec: ChartSpec, plot = months) => chartFrame(spec, plot) !== undefined;
  const axes = (x: object, y: object) => ({ mark: "bar", encoding: { x, y } });
  expect([frame(across), frame(down)]).toEqual([true, true]);
  for (const spec of [
    { ...across, mark: undefined },
    axes({ field: "month" }, { field: "other" }),
    axes({ field: "month" }, { field: "n", aggregate: "sum" }),
    axes({ field: "month", bin: true }, { field: "n" }),
    { mark: "bar", encoding: "x" },
  ])
    expect([spec, frame(spec as ChartSpec)]).toEqual([spec, false]);
  expect(frame(across, { ...months, roles: { ...months.roles, along: undefined } })).toBe(false);
});

const points: Plot = {
  columns: [
    { name: "a", kind: "number" },
    { name: "b", kind: "number" },
  ],
  rows: [
    [1, 3],
    [3, 7],
    [5, null],
    [2, 5],
  ],
  roles: { along: undefined, measures: [0, 1], parts: undefined },
};
const scatter = { mark: "point", encoding: { x: { field: "a" }, y: { field: "b" } } };

test("points have the line that is nearest to all of them, and the numbers of their groups in the middle of each", () => {
  expect(marks(points, scatter, [finding("pearson_correlation", [], {})]).told).toEqual([
    mark("line", undefined, [
      { a: 1, b: 3 },
      { a: 3, b: 7 },
    ]),
  ] as never);
  const groups = finding("dbscan_clusters", [], { clusters: 2, x1: 1, y1: 2, x2: 8, y2: 9 });
  expect(marks(points, scatter, [groups]).told).toEqual([
    mark("text", "1", [{ a: 1, b: 2 }]),
    mark("text", "2", [{ a: 8, b: 9 }]),
  ] as never);
  const slices = { mark: "arc", encoding: { theta: { field: "n" } } };
  expect(marks(months, slices, [finding("majority_value", ["May"], { share: 0.506 })]).told).toEqual([
    mark("text", "51 %", [{}], ""),
  ] as never);
  for (const [spec, type] of [
    [slices, "abnormal_value"],
    [scatter, "spearman_correlation"],
    [{ mark: "point", encoding: { x: { field: "a" } } }, "pearson_correlation"],
  ] as const)
    expect(marks(points, spec, [finding(type, [], {})]).told).toEqual([]);
  const along = { ...points, roles: { ...points.roles, along: 0 } };
  const other = { mark: "bar", encoding: { x: { field: "q" }, y: { field: "z" } } };
  expect(marks(along, other, [finding("pearson_correlation", [], {})]).told).toEqual([]);
});

import { expect, test } from "bun:test";
import type { ChartKind, ChartRoles, Plot } from "../chart-roles.ts";
import { coordinatesOf } from "../coordinates.ts";
import { fewEnough } from "../plot-rows.ts";
import { canvas, shortened } from "./canvas.ts";
import { radarSpec } from "./radar.ts";
import { requireShape } from "./require-shape.ts";
import { flowsOf, sankeySpec } from "./sankey.ts";
import { treemapSpec } from "./treemap.ts";
import { wordCloudSpec } from "./word-cloud.ts";
import { worldMapSpec } from "./world-map.ts";

type Value = Readonly<Record<string, never>>;
type Layer = {
  readonly data: { readonly values: readonly Value[] };
  readonly mark: Value;
  readonly encoding: Readonly<Record<string, Value>>;
};
const layersOf = (spec: Readonly<Record<string, unknown>>) => spec.layer as readonly Layer[];
const plot = (names: string, roles: Partial<ChartRoles>, ...rows: Plot["rows"]): Plot => ({
  columns: names.split(" ").map((name) => ({ name, kind: "name" })),
  rows,
  roles: { along: 0, measures: [1], parts: undefined, ...roles },
});
const valuesOf = (layer: Layer | undefined, ...names: readonly string[]) =>
  layer?.data.values.map((value) => names.map((name) => value[name]));

const power = plot(
  "from to amount",
  { parts: 1, measures: [2] },
  ["Coal", "Power", 40],
  ["Gas", "Power", 25],
  ["Power", "Homes", 60],
  ["Power", "Losses", 5],
  ["Power", "Nothing", 0],
  ["Gas", "Homes", null],
);

test("flows are as wide as what flows, from the edge of one name to that of the other", () => {
  expect(flowsOf(power).map(({ source, target, value }) => `${source} ${target} ${value}`)).toEqual([
    "Coal Power 40",
    "Gas Power 25",
    "Power Homes 60",
    "Power Losses 5",
  ]);
  const [bands, nodes, inner, last] = layersOf(sankeySpec(power));
  const node = (name: string) =>
    nodes?.data.values.find((one) => one.name === name) as Readonly<Record<string, number>>;
  const height = (name: string) => (node(name).y1 ?? 0) - (node(name).y0 ?? 0);
  expect(height("Coal") / height("Power")).toBeCloseTo(40 / 65, 5);
  expect([node("Coal").x0, node("Homes").x1, node("Power").value]).toEqual([0, canvas.width, 65]);
  const flow = bands?.data.values.filter(({ from, to }) => from === "Power" && to === "Homes") ?? [];
  expect([flow.length, flow[0]?.x, flow.at(-1)?.x]).toEqual([25, node("Power").x1, node("Homes").x0] as never);
  for (const { top, bottom, value } of flow) {
    expect(Number(bottom) - Number(top)).toBeCloseTo((60 * height("Power")) / 65, 5);
    expect(value).toBe(60 as never);
  }
  // Each flow is a band of its own.
  const ids = Map.groupBy(bands?.data.values ?? [], ({ id }) => id);
  expect([...ids.values()].map((band) => new Set(band.map(({ from, to }) => `${from} ${to}`)).size)).toEqual([
    1, 1, 1, 1,
  ]);
  const names = (layer: Layer | undefined) => [layer?.mark.align, ...(valuesOf(layer, "name") ?? []).flat()];
  expect([names(inner), names(last)]).toEqual([
    ["left", "Coal", "Power", "Gas"] as never,
    ["right", "Homes", "Losses"] as never,
  ]);
  expect([node("Coal").at, node("Homes").at]).toEqual([20, canvas.width - 20]);
  // Pixels are counted from the top left.
  expect([bands?.encoding.x?.scale, bands?.encoding.y?.scale]).toMatchObject([
    { domain: [0, canvas.width], reverse: false },
    { domain: [0, canvas.height], reverse: true },
  ]);
});

const skills = plot(
  "skill Ada Grace",
  { measures: [1, 2] },
  ["Speed", 8, 6],
  ["Memory", 4, 9],
  ["Logic", 0, 3],
  ["Wit", 2, null],
);

test("a value stands on its axis, from the top on clockwise, as far out as it is large", () => {
  const layers = layersOf(radarSpec(skills));
  const [web, figures, , , , lines, points] = layers;
  const at = (series: string) =>
    (points?.data.values ?? [])
      .filter((one) => one.series === series)
      .map(({ axis, x, y }) => [axis, Math.round(Number(x)), Math.round(Number(y))]);
  // The outer ring is 10, 160 pixels from the centre.
  expect(at("Ada")).toEqual([
    ["Speed", 320, 210 - 128],
    ["Memory", 320 + 64, 210],
    ["Logic", 320, 210],
    ["Wit", 320 - 32, 210],
  ] as never);
  expect(at("Grace").map(([, x, y]) => [x, y])).toEqual([
    [320, 114],
    [464, 210],
    [320, 258],
    [320, 210],
  ] as never);
  // A line goes round: its first point is its last, too.
  const ada = (lines?.data.values ?? []).filter((one) => one.series === "Ada");
  expect(ada.map(({ order, axis }) => `${order} ${axis}`)).toEqual([
    "0 Speed",
    "1 Memory",
    "2 Logic",
    "3 Wit",
    "4 Speed",
  ]);
  expect(valuesOf(figures, "text", "y")).toEqual([
    ["2.5", 170],
    ["5", 130],
    ["7.5", 90],
    ["10", 50],
  ] as never);
  expect(new Set(web?.data.values.map(({ line }) => line)).size).toBe(4 + 4);
  const sides = layers.slice(2, 5).map((layer) => [layer.mark.align, ...(valuesOf(layer, "name") ?? []).flat()]);
  expect(sides).toEqual([
    ["left", "Memory"],
    ["center", "Speed", "Logic"],
    ["right", "Wit"],
  ] as never);
});

test("the outer ring is a round number above all values, and series may be in rows", () => {
  const top = (value: number) =>
    valuesOf(layersOf(radarSpec(plot("a n", {}, ["x", value], ["y", 0], ["z", 0])))[1], "text")?.at(-1)?.[0];
  expect([1, 1.5, 3, 5, 7, 9, 12, 600, 0.3].map(top)).toEqual([
    "1",
    "2",
    "4",
    "6",
    "8",
    "10",
    "20",
    "600",
    "0.4",
  ] as never);
  const twelve = layersOf(radarSpec(plot("a n", {}, ["x", 12], ["y", 0], ["z", 0])))[6];
  expect(valuesOf(twelve, "y")?.[0]).toEqual([210 - (160 * 12) / 20] as never);
  const parted = plot(
    "a who n",
    { parts: 1, measures: [2] },
    ["x", "A", 1],
    ["y", "A", 1],
    ["z", "A", 1],
    ["x", "B", 1],
  );
  expect(new Set(layersOf(radarSpec(parted))[6]?.data.values.map(({ series }) => series))).toEqual(
    new Set(["A", "B"]) as never,
  );
});

const sales = plot(
  "product region n",
  { parts: 1, measures: [2] },
  ["Apples", "North", 30],
  ["Pears", "South", 20],
  ["Plums", "North", 10],
  ["None", "North", 0],
);

test("areas are as large as their values, largest first, those of a group side by side", () => {
  const [cells] = layersOf(treemapSpec(sales));
  const area = (cells?.data.values ?? []).map((cell) => {
    const { x0, x1, y0, y1 } = cell as unknown as Readonly<Record<string, number>>;
    return ((x1 ?? 0) - (x0 ?? 0)) * ((y1 ?? 0) - (y0 ?? 0));
  });
  expect(valuesOf(cells, "name", "group", "value", "figure")).toEqual([
    ["Apples", "North", 30, "30"],
    ["Plums", "North", 10, "10"],
    ["Pears", "South", 20, "20"],
  ] as never);
  expect((area[0] ?? 0) / (area[1] ?? 1)).toBeCloseTo(3, 0);
  expect((area[0] ?? 0) / (area[2] ?? 1)).toBeCloseTo(1.5, 1);
  const [alone] = layersOf(treemapSpec({ ...sales, roles: { ...sales.roles, parts: undefined } }));
  expect(valuesOf(alone, "group")?.flat()).toEqual(["Apples", "Pears", "Plums"] as never);
  expect([alone?.encoding.color?.legend, cells?.encoding.color?.title]).toEqual([null, "region"] as never);
});

test("a name that has no room is shortened, and left out where nothing of it would stay", () => {
  const widthOf = (text: string) => text.length;
  expect([4, 3, 2, 1].map((width) => shortened("abcd", width * 10, 10, widthOf))).toEqual(["abcd", "ab…", "", ""]);
  expect(shortened("😀😀😀😀", 70, 10, widthOf)).toBe("😀😀😀…");
});

test("words are as large as their values, the largest in the middle, and none is over another", () => {
  const words = Array.from({ length: 40 }, (_, at) => [`word${at}`, at] as const);
  const [layer] = layersOf(wordCloudSpec(plot("w n", {}, ...words)));
  const placed = (layer?.data.values ?? []) as unknown as readonly {
    readonly [name in "word" | "size" | "x" | "y" | "value"]: never;
  }[];
  expect([placed.length, placed[0]?.word]).toEqual([39, "word39"] as never);
  expect([Math.round(placed[0]?.x ?? 0), Math.round(placed[0]?.y ?? 0)]).toEqual([canvas.width / 2, canvas.height / 2]);
  const size = (value: number) => Number(placed.find((one) => one.value === (value as never))?.size);
  expect(size(10) / size(39)).toBeCloseTo(Math.sqrt(10 / 39), 1);
  expect(size(1) / size(39)).toBeGreaterThan(0.18);
  const boxes = placed.map(({ word, size: height, x, y }) => ({
    width: String(word).length * 0.5 * height,
    height,
    x,
    y,
  }));
  for (const [at, one] of boxes.entries()) {
    expect(one.x - one.width / 2).toBeGreaterThanOrEqual(0);
    expect(one.x + one.width / 2).toBeLessThanOrEqual(canvas.width);
    expect(one.y + one.height / 2).toBeLessThanOrEqual(canvas.height);
    for (const other of boxes.slice(at + 1)) {
      const isApart =
        Math.abs(one.x - other.x) >= (one.width + other.width) / 2 ||
        Math.abs(one.y - other.y) >= (one.height + other.height) / 2;
      expect(isApart).toBe(true);
    }
  }
});

test("a map colours countries by their value, and places stand where they are", () => {
  const people = plot("country n", {}, ["Germany", 84], ["FRA", -3], ["Peru", null]);
  const [{ layer: layers }] = worldMapSpec(people).layer as [{ readonly layer: readonly Value[] }];
  const [, coloured] = layers as unknown as readonly [unknown, Layer & { transform: readonly [{ from: Layer }] }];
  expect(coloured?.transform[0].from.data.values).toEqual([
    { id: "276", country: "Germany", value: 84 },
    { id: "250", country: "FRA", value: -3 },
    { id: "604", country: "Peru", value: null },
  ] as never);
  expect(coloured?.encoding.color).toMatchObject({ scale: { scheme: "blueorange", domainMid: 0 } });
  const cities = plot("who lon lat n", { along: undefined, measures: [1, 2, 3], parts: 0 }, ["a", 13, 52, 4]);
  const [, places] = layersOf(worldMapSpec(cities));
  expect(places?.data.values).toEqual([{ longitude: 13, latitude: 52, size: 4, series: "a" }] as never);
  expect(places?.encoding).toMatchObject({
    longitude: { field: "longitude" },
    latitude: { field: "latitude" },
    size: { field: "size", title: "n" },
    color: { field: "series", title: "who" },
  });
});

test.each<[string, Parameters<typeof coordinatesOf>[1], readonly number[] | undefined]>([
  ["Lon LAT n", { x: undefined, numbers: [2], isNamed: false }, [0, 1]],
  ["纬度 经度 n", { x: undefined, numbers: [2], isNamed: true }, [1, 0, 2]],
  ["lng latitude n", { x: undefined, numbers: [0, 1, 2], isNamed: true }, [0, 1, 2]],
  ["lon lat a b", { x: undefined, numbers: [2, 3], isNamed: true }, undefined],
  ["lon b n", { x: undefined, numbers: [2], isNamed: false }, undefined],
  ["a b n", { x: 0, numbers: [1], isNamed: true }, [0, 1]],
  ["a b n", { x: 0, numbers: [1, 2], isNamed: true }, [0, 1, 2]],
  ["a b n m", { x: 0, numbers: [1, 2, 3], isNamed: true }, undefined],
  ["a b n", { x: 0, numbers: [], isNamed: false }, undefined],
])("of the columns %s, with %j, the places are %j", (names, named, places) => {
  const columns = names.split(" ");
  const table = plot(
    names,
    {},
    columns.map((_, at) => at),
  );
  expect(coordinatesOf(table, named)).toEqual(places as never);
  expect(coordinatesOf({ ...table, rows: [columns] }, named)).toBeUndefined();
});

const problem = (of: Plot, kind: ChartKind) => {
  try {
    return requireShape(of, kind).join();
  } catch (error) {
    return (error as Error).message;
  }
};
const many = (count: number, more: readonly (string | number | null)[] = [1]) =>
  Array.from({ length: count }, (_, at) => [`n${at}`, ...more]);

test("a radar has three to sixteen axes, a sankey two hundred flows, and sizes are sizes", () => {
  const radar = (count: number) => problem(plot("a n", {}, ...many(count)), "radar").split(",")[0];
  expect([radar(3), radar(16)]).toEqual(["", ""]);
  for (const count of [2, 17]) expect(radar(count)).toBe("A radar has 3 to 16 axes");
  const flows = (count: number) =>
    problem(plot("a b n", { parts: 1, measures: [2] }, ...many(count, ["x", 1])), "sankey");
  expect([flows(200), flows(201)]).toEqual([
    "",
    "A sankey of 201 flows can't be read: 200 at most. Sum up the small ones.",
  ]);
  for (const kind of ["sankey", "radar", "treemap", "wordcloud"] as const) {
    const sized = (...values: readonly (number | null)[]) =>
      problem(plot("a b n", { parts: 1, measures: [2] }, ...values.map((value, at) => [`n${at}`, "x", value])), kind);
    expect(sized(1, 2, -3)).toBe(`A ${kind} shows sizes, and -3 is below zero. A bar chart shows both.`);
    expect(sized(0, null, 0)).toBe(`A ${kind} shows sizes, and all values are zero.`);
    expect(sized(1, 2, 0)).toBe("");
  }
});

test("a map's places are degrees, and its countries are known, or told where they are too small", () => {
  const at = (lon: number | null, lat: number | null) =>
    problem(plot("lon lat", { along: undefined, measures: [0, 1] }, [0, 0], [lon, lat]), "map");
  expect([at(180, 90), at(-180, -90)]).toEqual(["", ""]);
  expect(at(181, 0)).toBe("lon is to be a longitude, from −180 to 180, and holds 181.");
  expect(at(0, -91)).toBe("lat is to be a latitude, from −90 to 90, and holds -91.");
  expect(at(null, 0)).toContain("and holds an empty cell.");
  const countries = (...names: readonly string[]) => problem(plot("c n", {}, ...names.map((name) => [name, 1])), "map");
  expect(countries("Germany", "Malta", "Singapore")).toBe(
    'Too small to be seen on this map of the world: "Malta", "Singapore".',
  );
  const unknown = Array.from({ length: 13 }, (_, index) => `X${index}`);
  expect(countries("Germany", ...unknown)).toContain('"X11" and 1 more.');
});

test("heat maps and flows may have sixty series, areas and words are the hundred largest, maps have all", () => {
  const series = (count: number, kind: ChartKind) =>
    fewEnough(
      plot("a b n", { parts: 1, measures: [2] }, ...Array.from({ length: count }, (_, at) => ["x", `s${at}`, at])),
      kind,
    );
  for (const kind of ["heatmap", "sankey"] as const) {
    expect(series(60, kind).notes).toEqual([]);
    expect(series(61, kind).notes).toEqual(["Only the 60 of 61 names in b with the largest sums are drawn."]);
  }
  const sizes = (count: number) =>
    fewEnough(plot("a n", {}, ...Array.from({ length: count }, (_, at) => [`n${at}`, at - 1])), "treemap");
  const few = sizes(5);
  expect([few.plot.rows.map(([, n]) => n), few.notes]).toEqual([[3, 2, 1, -1], []]);
  const largest = sizes(150);
  expect([largest.plot.rows.length, largest.plot.rows[0]?.[1], largest.plot.rows.at(-1)?.[1]]).toEqual([101, 148, -1]);
  expect(largest.notes).toEqual(["Only the 100 largest of 149 are drawn."]);
  expect(fewEnough(plot("a n", {}, ...many(200)), "map").plot.rows).toHaveLength(200);
});

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DataScene, dataScene } from "../../../../testing/data/data.ts";
import { dataVisualization } from "../../data-visualization.ts";
import { interactiveSpec } from "../interactive/interactive-spec.ts";
import { countryNumber } from "./countries.ts";
import { cycleIn } from "./sankey.ts";

let scene: DataScene;
beforeAll(async () => {
  scene = await dataScene();
  const files = {
    flows: "from,to,amount\nCoal,Power,40\nGas,Power,25\nPower,Homes,60\nPower,Losses,5\n",
    skills: "skill,Ada,Grace\nSpeed,8,6\nMemory,7,9\nLogic,10,8\n",
    sales: "product,region,sales\nApples,North,30\nPears,South,20\nPlums,North,10\n",
    words: "word,n\nagent,90\nrun,40\n数据,20\n",
    people: "country,people\nGermany,84\nFRA,68\n中国,1412\nSingapore,6\n",
    cities: "city,longitude,latitude,people\nBerlin,13.4,52.5,4\nLima,-77,-12,11\n",
    circle: "from,to,n\na,b,3\nb,c,1\nc,a,4\n",
    below: "name,n\na,3\nb,-4\nc,1\n",
    nowhere: "country,n\nAtlantis,3\nFrance,4\n",
    off: "longitude,latitude\n13,95\n",
    two: "axis,n\na,1\nb,2\n",
    routes: "from,to,via,n\na,b,c,1\n",
  };
  for (const [name, text] of Object.entries(files)) await scene.write(`${name}.csv`, text);
});
afterAll(() => scene[Symbol.asyncDispose]());

const draw = async (charts: readonly object[], output_type = "svg") =>
  await scene.call(dataVisualization(scene), { charts, output_type });
const item = (name: string, chart: string, more: object = {}) => ({
  ...{ csvFilePath: `${name}.csv`, chartTitle: `${name} ${chart}`, chart, name: `${name}-${chart}` },
  ...more,
});

test("flows, axes, areas, words, countries and places are drawn, and each chart says what it shows", async () => {
  const { text, isError } = await draw([
    item("flows", "sankey", { x: "from", series: "to", y: "amount" }),
    item("skills", "radar"),
    item("sales", "treemap", { x: "product", series: "region", y: "sales" }),
    item("words", "wordcloud"),
    item("people", "map"),
    item("cities", "map", { y: ["latitude", "people"], x: "longitude" }),
  ]);
  expect(isError).toBe(false);
  expect(text.match(/Drawn: .*/g)).toEqual([
    "Drawn: sankey, 4 flows, source = from (3 names), target = to (3 names), width = amount; not drawn: nothing.",
    "Drawn: radar, x = skill, 2 series (Ada, Grace), 6 points; not drawn: nothing.",
    "Drawn: treemap, 3 areas of product in 2 groups by region, size = sales; not drawn: nothing.",
    "Drawn: wordcloud, 3 words of word, size = n; not drawn: nothing.",
    "Drawn: map, 4 countries of country, colour = people; not drawn: nothing.",
    "Drawn: map, 2 places by longitude longitude and latitude latitude, size = people; not drawn: column city.",
  ]);
  expect(text).toContain('Too small to be seen on this map of the world: "Singapore".');
  const svg = (name: string) => scene.read(`visualization/${name}.svg`);
  for (const label of [">Coal<", ">Power<", ">Losses<"]) expect(await svg("flows-sankey")).toContain(label);
  for (const label of [">Speed<", ">Memory<", ">Grace<"]) expect(await svg("skills-radar")).toContain(label);
  for (const label of [">Apples<", ">30<", ">South<"]) expect(await svg("sales-treemap")).toContain(label);
  for (const label of [">agent<", ">数据<"]) expect(await svg("words-wordcloud")).toContain(label);
  expect((await svg("people-map")).match(/<path /g)?.length).toBeGreaterThan(150);
  expect((await svg("cities-map")).match(/aria-roledescription="circle"/g)).toHaveLength(2);
}, 60_000);

test("what these charts cannot show is refused with the reason, not guessed", async () => {
  const refusals = [
    [item("circle", "sankey"), "these lead in a circle: a → b → c → a."],
    [item("routes", "sankey", { x: "from", y: "n" }), "It is open which of the other columns makes the series."],
    [item("below", "treemap"), "A treemap shows sizes, and -4 is below zero."],
    [item("below", "wordcloud"), "A wordcloud shows sizes, and -4 is below zero."],
    [item("two", "radar"), "A radar has 3 to 16 axes, and axis has 2 values."],
    [item("nowhere", "map"), 'The map knows no country "Atlantis".'],
    [item("off", "map"), "latitude is to be a latitude, from −90 to 90, and holds 95."],
    [item("sales", "map", { x: "product", series: "region", y: "sales" }), "A map takes x, the countries,"],
    [item("sales", "wordcloud", { x: "product", series: "region" }), "A word cloud takes x, a word in each row,"],
  ] as const;
  const { text } = await draw(refusals.map(([one]) => one));
  expect(text).toStartWith("0 of 9 charts drawn.");
  const said = text.split("\n\n").slice(1);
  for (const [at, [, reason]] of refusals.entries()) expect(said[at]).toContain(reason);
}, 60_000);

test("countries are known by names in five languages and by codes", () => {
  const names = ["Germany", "deutschland", "Allemagne", "Alemania", "德国", "DE", "deu"];
  expect(names.map(countryNumber)).toEqual(names.map(() => "276"));
  expect([countryNumber("Atlantis"), countryNumber(""), countryNumber("ZZ")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a circle of flows is found behind others", () => {
  const flow = (source: string, target: string) => ({ source, target, value: 1 });
  expect(cycleIn([flow("a", "b"), flow("b", "c"), flow("a", "c")])).toBeUndefined();
  expect(cycleIn([flow("x", "a"), flow("a", "b"), flow("b", "a")])).toEqual(["a", "b", "a"]);
});

test("on a page, values are told at the pointer, series fade by the legend, and points can be zoomed", () => {
  const color = { field: "city", type: "nominal" };
  const line = interactiveSpec({ mark: { type: "line", point: false }, encoding: { color } });
  expect(line).toMatchObject({
    config: { mark: { tooltip: true } },
    mark: { type: "line", point: "transparent" },
    params: [{ name: "picked", bind: "legend" }],
    encoding: { strokeOpacity: { condition: { param: "picked" } } },
  });
  const axis = { type: "quantitative" };
  expect(interactiveSpec({ mark: "point", encoding: { x: axis, y: axis } }).params).toEqual([
    { name: "zoomed", select: "interval", bind: "scales" },
  ]);
  expect(interactiveSpec({ layer: [] })).not.toHaveProperty("params");
});

import { expect, test } from "bun:test";
import { interactiveSpec } from "./interactive-spec.ts";
import { drawFunction, pageScript, vegaScripts } from "./vega-scripts.ts";

const color = { field: "city", type: "nominal" };
const tips = { mark: { tooltip: true }, line: { tooltip: null }, area: { tooltip: null } };
const picked = [{ name: "picked", select: { type: "point", fields: ["city"] }, bind: "legend" }];
const fading = { condition: { param: "picked", value: 1 }, value: 0.15 };

test.each([
  ["line", { type: "line", point: false }, { type: "line", point: "transparent" }, "strokeOpacity"],
  ["bare area", "area", { type: "area", point: "transparent" }, "fillOpacity"],
  ["line with points", { type: "line", point: true }, { type: "line", point: true }, "opacity"],
  ["bar", "bar", { type: "bar" }, "opacity"],
])("a series of a %s fades where another is picked in the legend", (_, mark, expected, channel) => {
  expect(interactiveSpec({ mark, encoding: { color, x: { field: "a" } }, width: 9 })).toEqual({
    ...{ mark: expected, width: 9, params: picked, config: tips },
    encoding: { color, x: { field: "a" }, [channel]: fading },
  });
});

test("nothing can be picked where colours are no names, there is no legend, or something else fades", () => {
  for (const encoding of [
    {},
    { color: { ...color, type: "quantitative" } },
    { color: { ...color, legend: null } },
    { color: { ...color, field: { repeat: "a" } } },
    { color, opacity: { value: 1 } },
  ])
    expect(interactiveSpec({ mark: "bar", encoding })).toEqual({
      mark: { type: "bar" },
      encoding,
      config: tips,
    } as never);
});

test("points of two measures can be zoomed, and no other marks", () => {
  const [number, name] = [{ type: "quantitative" }, { type: "nominal" }];
  const params = (mark: unknown, x: object, y: object) => interactiveSpec({ mark, encoding: { x, y } }).params;
  const zoomed = [{ name: "zoomed", select: "interval", bind: "scales" }];
  expect([params("point", number, number), params({ type: "point" }, number, number)]).toEqual([zoomed, zoomed]);
  for (const [mark, x, y] of [
    ["point", number, name],
    ["point", name, number],
    ["bar", number, number],
  ] as const)
    expect(params(mark, x, y)).toBeUndefined();
});

test("a specification with its own settings, or of several marks, keeps them", () => {
  const own = { mark: "bar", params: [{ name: "own" }], config: { mark: { tooltip: null }, font: "Mine" } };
  expect(interactiveSpec(own)).toEqual({ ...own, config: { ...tips, ...own.config } });
  const layers = { layer: [{ mark: "bar" }] };
  expect(interactiveSpec(layers)).toEqual({ ...layers, config: tips });
});

test("a script ends neither its element nor begins a comment, and its hash is that of what the page holds", () => {
  const { text, hash } = pageScript('a("</script>", "</SCRIPT x", "<!-- b", "</p>")');
  expect(text).toBe('a("<\\/script>", "<\\/SCRIPT x", "<\\!-- b", "</p>")');
  const digest = new Bun.CryptoHasher("sha256").update(text).digest("base64");
  expect(hash).toBe(`'sha256-${digest}'`);
});

test("a page has all that draws, whole, and loads nothing", async () => {
  const { text } = await vegaScripts.get();
  expect(text).not.toContain("sourceMappingURL");
  expect(text).not.toContain("</script");
  for (const name of ["vega", "vegaLite", "vegaEmbed"]) expect(text).toContain(`.${name}=`);
  const asked: unknown[] = [];
  const draw = new Function("vegaEmbed", `${drawFunction} return drawChart;`)((...call: unknown[]) => asked.push(call));
  draw("element", { mark: "bar" }, { words: 1 });
  type Loader = { readonly loader: Readonly<Record<"load" | "sanitize" | "http" | "file", () => Promise<never>>> };
  const [element, spec, options] = asked[0] as [string, object, Loader];
  expect([element, spec]).toEqual(["element", { mark: "bar" }]);
  expect(options).toMatchObject({
    ...{ mode: "vega-lite", ast: true, i18n: { words: 1 } },
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
  });
  const { load, sanitize, http, file } = options.loader;
  for (const one of [load, sanitize, http, file]) await expect(one()).rejects.toThrow("A chart loads nothing.");
});

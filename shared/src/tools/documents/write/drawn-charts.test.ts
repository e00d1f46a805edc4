import { expect, spyOn, test } from "bun:test";
import * as rendering from "../../data/charts/render/render-chart.ts";
import { type ChartPictures, drawCharts } from "./drawn-charts.ts";

const block = (spec: unknown) => {
  const code = JSON.stringify(spec).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  return `<pre><code class="language-vega-lite">${code}</code></pre>`;
};
const chart = (title: string | undefined, ...values: readonly object[]) =>
  block({ ...(title !== undefined && { title }), mark: "bar", data: { values: values.length ? values : [{ a: 1 }] } });

/** The HTML with its charts, each drawn as its title, and what was asked of who draws them. */
async function draw(html: string, pictures: ChartPictures = "svg", language: "en" | "zh" = "en") {
  let drawn = 0;
  using spy = spyOn(rendering, "renderChart").mockImplementation(async (_, { png }) => ({
    ...{ svg: `svg ${++drawn}`, png: png ? Buffer.from(`png ${drawn}`) : undefined, preview: undefined },
  }));
  const { signal } = new AbortController();
  const page = await drawCharts(html, { pictures, language, signal });
  for (const [, options] of spy.mock.calls)
    expect([options.png, options.signal === signal]).toEqual([pictures === "png", true]);
  const specs = spy.mock.calls.map(([spec]) => spec as Readonly<Record<string, never>>);
  return { page: page.replaceAll(/base64,([^"]*)/g, (_, data) => Buffer.from(data, "base64").toString()), specs };
}

test("each chart stands where its block was, between the words around it, as it is asked for", async () => {
  const html = `<p>one</p>${chart("A")}<p>two</p>${chart(undefined)}<pre><code class="language-js">x</code></pre>`;
  const picture = (type: string, alt: string) => `<p><img src="data:image/${type}" alt="${alt}"></p>`;
  const end = '<pre><code class="language-js">x</code></pre>';
  expect((await draw(html)).page).toBe(
    `<p>one</p>${picture("svg+xml;svg 1", "A")}<p>two</p>${picture("svg+xml;svg 2", "")}${end}`,
  );
  expect((await draw(html, "png")).page).toBe(
    `<p>one</p>${picture("png;png 1", "A")}<p>two</p>${picture("png;png 2", "")}${end}`,
  );
  expect((await draw("<p>none</p>")).page).toBe("<p>none</p>");
});

test("a chart has its own data and title as they were written, in the language of the document", async () => {
  const values = [{ name: '<b> & "c" &lt;', n: null }];
  const title = 'A "b" <c> & d';
  const { page, specs } = await draw(chart(title, ...values), "svg", "zh");
  expect(page).toContain('alt="A  b   c    d"');
  expect(specs[0]).toMatchObject({ mark: "bar", data: { values }, title: { text: [title], subtitle: [] } });
  expect(specs[0]?.config).toHaveProperty("locale");
  expect((await draw(chart(title))).specs[0]?.config).not.toHaveProperty("locale");
});

test("a document has up to twenty charts of five thousand rows, and none that loads anything", async () => {
  expect((await draw(chart("A").repeat(20))).specs).toHaveLength(20);
  await expect(draw(chart("A").repeat(21))).rejects.toMatchObject({
    code: "too_large",
    message: "A document may have 20 charts.",
  });
  const rows = (count: number) => Array.from({ length: count }, () => ({ a: 1 }));
  expect((await draw(chart("A", ...rows(5_000)))).specs).toHaveLength(1);
  for (const wrong of [chart("A", ...rows(5_001)), block({ mark: "bar" }), block({ data: { values: [] } })])
    await expect(draw(wrong)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("A vega-lite block is not a chart with data.values"),
    });
  const loading = block({ data: { values: [{ a: 1 }] }, layer: [{ data: { url: "x" } }] });
  await expect(draw(loading)).rejects.toMatchObject({ code: "forbidden" });
});

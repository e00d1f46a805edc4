import { expect, spyOn, test } from "bun:test";
import * as running from "../../../../machine/process/run-own-script.ts";
import { renderChart } from "./render-chart.ts";

test("a chart is drawn by a script of ours within half a minute and 1.5 GB, as long as its task goes on", async () => {
  const png = Buffer.from("png").toString("base64");
  const reply = { svg: "<svg/>", png, preview: "small" };
  using run = spyOn(running, "runOwnScript").mockResolvedValue(reply);
  const { signal } = new AbortController();
  const drawn = await renderChart({ mark: "bar" }, { png: true, signal });
  expect([drawn.svg, Buffer.from(drawn.png ?? []).toString(), drawn.preview]).toEqual(["<svg/>", "png", "small"]);
  const [asked] = run.mock.calls[0] ?? [];
  expect(asked).toMatchObject({
    script: expect.stringMatching(/\/render\/render-worker\.ts$/),
    subject: "The chart",
    deadlineMs: 30_000,
    memoryBytes: 1.5 * 2 ** 30,
  });
  expect(asked?.signal).toBe(signal);
  expect(await new Response(asked?.stdin as Blob).json()).toEqual({ spec: { mark: "bar" }, png: true });
  run.mockResolvedValue({ svg: "<svg/>" });
  expect(await renderChart({}, { png: false, signal })).toEqual({ svg: "<svg/>", png: undefined, preview: undefined });
});

test("what cannot be drawn is told in the library's words", async () => {
  const spec = { mark: "point", transform: [{ calculate: "datum.", as: "b" }] };
  const drawing = renderChart(spec, { png: false, signal: new AbortController().signal });
  await expect(drawing).rejects.toMatchObject({
    code: "rejected",
    message: "Vega-Lite cannot draw this: Unexpected end of input",
  });
});

test("nothing that a chart names is loaded, and pixels are drawn as far as they fit, in both directions", async () => {
  const { signal } = new AbortController();
  const encoding = { x: { field: "a", type: "quantitative" } };
  const draw = (spec: object, png = false) =>
    renderChart({ mark: "point", encoding, ...spec }, { png, signal }).catch((error) => error);
  const [named, ...tall] = await Promise.all([
    draw({ data: { url: 'data:application/json,[{"a":77}]' } }),
    draw({ data: { values: [{ a: 1 }] }, width: 50, height: 4_100 }),
    draw({ data: { values: [{ a: 1 }] }, width: 50, height: 4_100 }, true),
  ]);
  expect(named.svg).not.toContain("a: 77");
  expect(tall[0]).toMatchObject({ svg: expect.stringContaining("<svg"), preview: undefined });
  expect(tall[1]).toMatchObject({ message: expect.stringContaining("a PNG may have up to 4000 pixels a side") });
});

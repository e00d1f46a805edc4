import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { htmlPage } from "../../page/html-page.ts";
import type { ChartFile } from "./chart-file.ts";
import { drawChart, type OutputType } from "./draw-chart.ts";
import * as rendering from "./render/render-chart.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());

const chart: ChartFile = {
  ...{ title: "T", language: "en", csvFilePath: "a.csv", columns: [{ name: "n", kind: "number" }], rows: [[5]] },
  ...{ spec: { mark: "bar", encoding: {} }, shown: [2], roles: undefined },
  insights: ["one", "two", "three"].map((text) => ({
    ...{ type: "x", series: "s", at: [], figures: {}, strength: 1 },
    text: `It is ${text}.`,
  })),
};

test("a chart is kept as the picture that is asked for, and seen as a small one", async () => {
  using render = spyOn(rendering, "renderChart").mockImplementation(async (_, { png }) => ({
    ...{ svg: "<svg>picture</svg>", png: png ? Buffer.from("the png") : undefined, preview: "small" },
  }));
  const { workspace } = place;
  const { signal } = new AbortController();
  const draw = async (output: OutputType, of = chart) => {
    const drawn = await drawChart({ workspace, signal }, `visualization/${output}`, of, output);
    expect(drawn.path).toBe(`visualization/${output}.${output}`);
    expect(drawn.image).toEqual({ type: "image", mediaType: "image/png", data: "small" });
    const [, options] = render.mock.calls.at(-1) ?? [];
    expect([options?.png, options?.signal === signal]).toEqual([output === "png", true]);
    return await Bun.file(join(workspace.root, drawn.path)).text();
  };
  expect([await draw("png"), await draw("svg")]).toEqual(["the png", "<svg>picture</svg>"]);
  expect(await draw("html")).toContain('<div id="picture"><svg>picture</svg></div>');
  // The findings that it shows stand below its title.
  const [spec] = render.mock.calls[0] ?? [];
  expect(spec).toMatchObject({ data: { values: [{ n: 5 }] }, title: { text: ["T"], subtitle: ["It is two."] } });
  expect(await Bun.file(join(workspace.root, "visualization/svg.json")).json()).toMatchObject({ shown: [2] });
  // A picture of other data takes the place of all that show what was.
  await Bun.write(join(workspace.root, "visualization/svg.png"), "stale");
  expect(await draw("svg", { ...chart, rows: [[6]] })).toBe("<svg>picture</svg>");
  expect(await Bun.file(join(workspace.root, "visualization/svg.png")).exists()).toBe(false);
  render.mockResolvedValue({ svg: "", png: undefined, preview: undefined });
  const { image } = await drawChart({ workspace, signal }, "visualization/x", chart, "svg");
  expect(image).toBeUndefined();
});

test("only a picture of pixels needs fonts of this machine", async () => {
  using _ = spyOn(rendering, "renderChart").mockImplementation(async (_, { png }) => ({
    ...{ svg: "<svg>销售</svg>", png: png ? Buffer.from("png") : undefined, preview: undefined },
  }));
  using glob = spyOn(Bun.Glob.prototype, "scanSync").mockImplementation(() => [].values() as never);
  const { workspace } = place;
  const { signal } = new AbortController();
  const warned = async (output: OutputType) =>
    (await drawChart({ workspace, signal }, "visualization/y", chart, output)).warning !== undefined;
  const onLinux = process.platform === "linux";
  expect([await warned("png"), await warned("svg"), await warned("html")]).toEqual([onLinux, false, false]);
  expect(glob.mock.calls.length > 0).toBe(onLinux);
});

test("a page loads nothing, and runs nothing but the scripts that it names", () => {
  const policy = (scripts?: readonly string[]) =>
    /content="(default[^"]*)"/.exec(htmlPage("T", "en", "x", scripts))?.[1];
  const bare = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
  expect([policy(), policy([]), policy(["'a'", "'b'"])]).toEqual([bare, bare, `${bare}; script-src 'a' 'b'`]);
  const page = htmlPage('<T> "&"', '"><b>', "<p>body</p>");
  expect(page).toContain("<title>&lt;T&gt; &quot;&amp;&quot;</title>");
  expect(page).toContain('<html lang="&quot;&gt;&lt;b&gt;">');
  expect(page).toContain("<body>\n<p>body</p>\n</body>");
});

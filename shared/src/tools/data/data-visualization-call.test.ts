import { expect, spyOn, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import * as marking from "./charts/marked-chart.ts";
import * as drawing from "./charts/new-chart.ts";
import { dataVisualization } from "./data-visualization.ts";

const databases = {} as never;
const tool = dataVisualization({ databases });
const context = (more: Partial<ToolContext> = {}) => contextForTest({ root: "/none" } as never, more);
const image = (data: string) => ({ type: "image", mediaType: "image/png", data }) as const;
const charts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ csvFilePath: "a.csv", chartTitle: `T${at}` }));
/** Draws each chart as its title. */
const drawn = () =>
  spyOn(drawing, "newChart").mockImplementation(async (_, { chartTitle }) => ({
    text: `drawn ${chartTitle}`,
    image: image(chartTitle),
  }));

test("of many charts four pictures are seen, the first, and each is told", async () => {
  using spy = drawn();
  const four = await tool.call({ charts: charts(4) }, context());
  expect(four.images).toHaveLength(4);
  const { text, isError, images } = await tool.call({ charts: charts(20) }, context());
  expect([isError, images?.map(({ data }) => data)]).toEqual([false, ["T0", "T1", "T2", "T3"]]);
  expect(text).toStartWith("20 of 20 charts drawn.\n\n## T0\ndrawn T0\n\n## T1\n");
  expect(text).toEndWith("\n\n## T19\ndrawn T19");
  expect(spy).toHaveBeenCalledTimes(24);
  expect(await tool.call({ charts: charts(21) }, context())).toMatchObject({ isError: true });
  expect(spy).toHaveBeenCalledTimes(24);
});

test("a chart is drawn as asked for, as a PNG in English unless it is said", async () => {
  using spy = drawn();
  const own = context();
  expect((await tool.call({ charts: charts(1) }, own)).text).toBe("1 of 1 chart drawn.\n\n## T0\ndrawn T0");
  await tool.call({ charts: charts(1), output_type: "svg", language: "zh" }, own);
  const [item] = charts(1);
  expect(spy.mock.calls).toEqual([
    [{ databases }, item as never, { output: "png", language: "en" }, own],
    [{ databases }, item as never, { output: "svg", language: "zh" }, own],
  ]);
  using marked = spyOn(marking, "markedChart").mockResolvedValue({ text: "marked", image: undefined });
  const insight = { chartPath: "a.png", insights_id: [2] };
  const result = await tool.call({ charts: [insight], tool_type: "insight", output_type: "png" }, own);
  expect(result).toEqual({ text: "1 of 1 chart drawn.\n\n## a.png\nmarked", isError: false });
  expect(marked.mock.calls).toEqual([[insight, "png", own]]);
  expect(await tool.call({ charts: [{ ...insight, insights_id: [] }], tool_type: "insight" }, own)).toMatchObject({
    isError: true,
  });
});

test("a chart that cannot be drawn stops none, an end of the task and a fault of ours stop all", async () => {
  using spy = drawn();
  spy.mockRejectedValueOnce(new AppError("invalid_input", "No such column."));
  const { text, isError, images } = await tool.call({ charts: charts(2) }, context());
  expect(text).toBe("1 of 2 charts drawn.\n\n## T0\nNot drawn: No such column.\n\n## T1\ndrawn T1");
  expect([isError, images?.length]).toEqual([true, 1]);
  const stop = new AbortController();
  spy.mockImplementationOnce(async () => {
    stop.abort("the end");
    throw new AppError("unavailable", "The database ended.");
  });
  const ended = tool.call({ charts: charts(2) }, context({ signal: stop.signal }));
  expect(await ended.catch((error) => error)).toBe("the end");
  spy.mockRejectedValueOnce(new TypeError("ours"));
  expect(await tool.call({ charts: charts(2) }, context())).toEqual({ isError: true, text: "ours" });
});

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { workspaceForTest } from "../../../testing/machine/workspace.ts";
import { type ChartFile, chartBase, markedChartBase, plainChartBase, readJsonFile, saveChart } from "./chart-file.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());
beforeEach(() => rm(join(place.workspace.root, "visualization"), { recursive: true, force: true }));

const file = (path: string) => Bun.file(join(place.workspace.root, path));
const finding = { type: "x", series: "s", at: [], figures: {}, strength: 1, text: "It rises." };
const chart = (more: Partial<ChartFile> = {}): ChartFile => ({
  ...{ title: "T", language: "en", csvFilePath: "a.csv", spec: {}, columns: [], rows: [] },
  ...{ insights: [], shown: [], roles: undefined },
  ...more,
});
const put = (path: string, content: unknown = "x") =>
  Bun.write(file(`visualization/${path}`), typeof content === "string" ? content : JSON.stringify(content));
const plain = (name: string, more: Partial<ChartFile> = {}, isNamed = false) =>
  plainChartBase(place.workspace, name, { ...chart(more), isNamed });

test("a chart has the place of the one of its file and title, or a free one", async () => {
  expect(await plain("a.csv")).toBe("visualization/a");
  await put("a.json", chart());
  expect(await plain("a.csv")).toBe("visualization/a");
  expect(await plain("a.csv", { title: "U" })).toBe("visualization/a_2");
  expect(await plain("a.csv", { csvFilePath: "b.csv" })).toBe("visualization/a_2");
  await put("a_2.json", chart({ title: "U" }));
  expect(await plain("a.csv", { title: "U" })).toBe("visualization/a_2");
  expect(await plain("a.csv", { title: "V" })).toBe("visualization/a_3");
  // By its name, whatever its title; but not that of another file.
  expect(await plain("a", { title: "V" }, true)).toBe("visualization/a");
  expect(await plain("a", { csvFilePath: "c.csv" }, true)).toBe("visualization/a_3");
});

test("a chart takes the place of no other file, and not that of a copy with findings", async () => {
  for (const other of ["not JSON", "{}", chart({ shown: [1] })]) {
    await put("a.json", other);
    expect(await plain("a.csv")).toBe("visualization/a_2");
  }
  await mkdir(join(place.workspace.root, "visualization/d.json"), { recursive: true });
  expect(await plain("d.csv")).toBe("visualization/d_2");
  expect([await plain(".hidden"), await plain("a.b.csv"), await plain("no ending")]).toEqual([
    "visualization/.hidden",
    "visualization/a.b",
    "visualization/no ending",
  ]);
});

test("a copy with findings is named after its chart, and replaces only a copy", async () => {
  const marked = () => markedChartBase(place.workspace, "visualization/a", chart());
  expect(await marked()).toBe("visualization/a_new");
  await put("a_new.json", chart());
  expect(await marked()).toBe("visualization/a_new_2");
  await put("a_new.json", chart({ shown: [1] }));
  expect(await marked()).toBe("visualization/a_new");
});

test("a chart is found by any of its files, in its folder too", async () => {
  await put("a.json", chart());
  for (const path of ["visualization/a.png", "a.html", "other/a.svg", "a", "visualization/a.json"])
    expect([path, await chartBase(place.workspace, path)]).toEqual([path, "visualization/a"]);
  await Bun.write(file("own/b.json"), "{}");
  expect(await chartBase(place.workspace, "own/b.png")).toBe("own/b");
  await expect(chartBase(place.workspace, "own/c.png")).rejects.toMatchObject({
    code: "not_found",
    message: "There is no chart own/c.png: neither own/c.json nor visualization/c.json exists.",
  });
});

test("a JSON file is read as what it has to be", async () => {
  await put("a.json", "[1]");
  const read = (schema: z.ZodType) => readJsonFile(place.workspace, "visualization/a.json", schema);
  expect(await read(z.array(z.number()))).toEqual([1]);
  await expect(read(z.string())).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^visualization\/a\.json: /),
  });
  await put("a.json", "[1");
  await expect(read(z.any())).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^visualization\/a\.json is not JSON: /),
  });
  await put("a.json", `"${"x".repeat(32 * 2 ** 20)}"`);
  await expect(read(z.any())).rejects.toMatchObject({ code: "too_large" });
});

const there = async (...names: readonly string[]) =>
  (await Promise.all(names.map((name) => file(`visualization/${name}`).exists()))).map(Number).join("");
const all = ["a.png", "a.svg", "a.html", "a.md", "a_new.json", "a_new.png", "a_new.svg", "a_new.html", "a_new.md"];
const save = (more: Partial<ChartFile> = {}) =>
  saveChart(place.workspace, "visualization/a", chart(more), "visualization/a.svg");

test("a chart is kept with its findings, numbered", async () => {
  await save({ insights: [finding, { ...finding, text: "It falls." }] });
  expect(JSON.parse(await file("visualization/a.json").text())).toMatchObject({ title: "T", csvFilePath: "a.csv" });
  expect(await file("visualization/a.md").text()).toBe("## T Insights\n1. It rises.\n2. It falls.\n");
});

test("pictures of what a chart showed before go with it, those of the same chart stay", async () => {
  const prepare = async (copy: Partial<ChartFile>) => {
    await put("a.json", chart({ insights: [finding] }));
    for (const name of all) await put(name);
    await put("a_new.json", chart(copy));
  };
  await prepare({ shown: [1] });
  await save({ insights: [finding] });
  expect(await there(...all)).toBe("111111111");
  await prepare({ shown: [1] });
  await save({ rows: [[1]] });
  expect(await there(...all)).toBe("010000000");
  // What is called like a copy but is none stays.
  await prepare({ shown: [] });
  await save({ rows: [[1]] });
  expect(await there(...all)).toBe("010011111");
  await prepare({ shown: [1] });
  await put("a.json", "something else");
  await save({ rows: [[1]] });
  expect(await there(...all)).toBe("111111111");
});

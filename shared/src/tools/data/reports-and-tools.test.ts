import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdir, readdir, rename, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { Tool, ToolResult } from "../../core/tools/tool.ts";
import { workspaceForTest } from "../../testing/machine/workspace.ts";
import { contextForTest } from "../../testing/tool-context.ts";
import * as embedding from "../documents/write/embedded-page.ts";
import { dataTools } from "./data-tools.ts";
import { visualizationPreparation } from "./visualization-preparation.ts";
import { writeReport } from "./write-report.ts";

let place: Awaited<ReturnType<typeof workspaceForTest>>;
beforeAll(async () => {
  place = await workspaceForTest();
});
afterAll(() => place[Symbol.asyncDispose]());
const file = (path: string) => Bun.file(join(place.workspace.root, path));

test("a machine with a Python prepares charts, one with servers asks them, and all have the rest", () => {
  const databases = { query: async () => ({}) } as never;
  const servers = { listed: [{ name: "shop", about: "SQLite", readOnly: true }] } as never;
  const all = dataTools({ databases, servers, python: { name: "python_execute" } as Tool });
  expect(all.map(({ name }) => name)).toEqual([
    ...["describe_data", "sql_query", "statistics", "visualization_preparation", "data_visualization", "write_report"],
  ]);
  expect(all[1]?.inputSchema).toHaveProperty("properties.database");
  const bare = dataTools({ databases, python: undefined });
  expect(bare.map(({ name }) => name)).not.toContain("visualization_preparation");
  expect(bare[1]?.inputSchema).not.toHaveProperty("properties.database");
  const effects = all.map((tool) => [tool.name, tool.effect({ sql: "SELECT 1" })]);
  expect(Object.fromEntries(effects)).toEqual({
    ...{ describe_data: "pure", sql_query: "pure", statistics: "pure", visualization_preparation: "once" },
    ...{ data_visualization: "once", write_report: "idempotent" },
  });
});

test("a report is its Markdown as given and its page, in its language, where it is to be", async () => {
  using page = spyOn(embedding, "embeddedPage").mockImplementation(async () => "the page");
  const { signal } = new AbortController();
  const write = (input: object) => writeReport().call(input, contextForTest(place.workspace, { signal }));
  expect(await write({ title: "T & <b>", markdown: "Up.\n\n\n" })).toEqual({
    isError: false,
    text: "Written: report.md and report.html.",
  });
  expect([await file("report.md").text(), await file("report.html").text()]).toEqual([
    "# T & <b>\n\nUp.\n",
    "the page",
  ]);
  await write({ title: "T", markdown: "x", path: "sub/a", language: "zh" });
  expect(await file("sub/a.md").text()).toBe("# T\n\nx\n");
  expect(page.mock.calls.map(([document]) => document)).toEqual([
    { title: "T & <b>", markdown: "Up.\n\n\n", language: "en" },
    { title: "T", markdown: "x", language: "zh" },
  ]);
  expect(
    page.mock.calls.every(([, context]) => context.signal === signal && context.workspace === place.workspace),
  ).toBe(true);
  expect((await write({ title: "T", markdown: "x", path: "a.md" })).text).toContain("without an extension");
  // Neither file without the page.
  page.mockRejectedValue(new Error("no picture"));
  expect(await write({ title: "T", markdown: "x", path: "none" })).toEqual({ isError: true, text: "no picture" });
  expect(await file("none.md").exists()).toBe(false);
});

test("what prepares charts finds its folders, which are its own, and is told what is missing", async () => {
  const context = contextForTest(place.workspace);
  const asked: unknown[] = [];
  const prepare = async (code_type: string, said: ToolResult) => {
    const python = {
      async call(input: unknown, given: unknown) {
        const folders = ["visualization", ".manyhands"].map((name) => stat(join(place.workspace.root, name)));
        asked.push(
          input,
          given === context,
          (await Promise.all(folders)).every((one) => one.isDirectory()),
        );
        return said;
      },
    } as unknown as Tool;
    return await visualizationPreparation({ python }).call({ code_type, code: "print(1)" }, context);
  };
  const result = (text: string, isError = false): ToolResult => ({ text, isError });
  expect(await prepare("insight", result("a.json"))).toEqual(result("a.json"));
  expect(await prepare("insight", result("no such module", true))).toEqual(result("no such module", true));
  expect((await prepare("insight", result("1"))).text).toBe(
    '1\n[no path of a JSON file was printed; data_visualization needs one that holds [{"chartPath": "…", "insights_id": [1]}]]',
  );
  expect((await prepare("visualization", result("1"))).text).toContain('"csvFilePath"');
  expect(asked.slice(0, 3)).toEqual([{ code: "print(1)" }, true, true]);
});

test("no folder is made outside, however names are exchanged meanwhile", async () => {
  await using room = await workspaceForTest();
  const [root, outside] = [room.workspace.root, join(room.home, "outside")];
  await mkdir(join(root, "deep/inner"), { recursive: true });
  await mkdir(outside);
  await symlink("deep/inner", join(root, "visualization"));
  const resolve = async (path: string) => {
    const real = await room.workspace.resolve(path);
    await rename(join(root, "deep"), join(root, "aside")).catch(() => undefined);
    await symlink(outside, join(root, "deep")).catch(() => undefined);
    return real;
  };
  const python = { call: async () => ({ text: "a.json", isError: false }) } as unknown as Tool;
  const context = contextForTest({ ...room.workspace, resolve });
  await visualizationPreparation({ python }).call({ code_type: "insight", code: "1" }, context);
  expect(await readdir(outside)).toEqual([]);
});

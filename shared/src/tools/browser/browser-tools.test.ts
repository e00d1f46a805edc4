import { expect, test } from "bun:test";
import { openWeb } from "../../core/taken-in.ts";
import { createBrowsers } from "../../machine/browser/create-browsers.ts";
import { browserDefaults } from "../../machine/browser-process/settings.ts";
import { estimateText } from "../../models/tokens.ts";
import { createSnapshotStates } from "../observation/elements/snapshot-state.ts";
import type { PageTool } from "../risk/page-tool.ts";
import { browserTools } from "./browser-tools.ts";

/** The tools over a browser that is never started. */
function openTools() {
  const policy = { allow: [], deny: [], only: [] };
  const browsers = createBrowsers({ ...browserDefaults, folder: "/nonexistent", policy });
  const tools = browserTools({
    browsers,
    looks: createSnapshotStates(),
    search: () => Promise.reject(new Error("none")),
  });
  return { browsers, tools };
}

test("the definitions of thirty tools cost each request less than 2,300 tokens, and a ref in them is plain text", async () => {
  const { browsers, tools } = openTools();
  const told = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  expect(told.length).toBeGreaterThan(25);
  expect(told.reduce((sum, text) => sum + estimateText(text), 0)).toBeLessThan(2_300);
  expect(tools.find(({ name }) => name === "browser_hover")?.inputSchema).toEqual({
    type: "object",
    properties: {
      ref: {
        type: "string",
        description: 'Or a point of the newest screenshot: "120,80".',
      },
    },
    required: ["ref"],
  });
  await browsers.close();
});

test("all that act are done once, bring what the web says, and end with their task; all that act on elements are judged", async () => {
  const { browsers, tools } = openTools();
  const named = (choose: (tool: PageTool) => unknown) =>
    tools.flatMap((tool) => (choose(tool as PageTool) ? [tool.name.replace("browser_", "")] : [])).join(" ");
  expect(tools.filter(({ brings }) => brings?.includes(openWeb) !== true)).toEqual([]);
  expect(tools.filter(({ release }) => release === undefined)).toEqual([]);
  expect(named(({ effect }) => effect({}) === "pure")).toBe("snapshot get_dropdown_options wait");
  expect(named(({ effect }) => !["pure", "once"].includes(effect({})))).toBe("");
  expect(named(({ family }) => family === "pointer")).toBe("click_at hover drag");
  expect(named(({ opens }) => opens === "browser")).toBe("go_to_url");
  expect(named(({ opens }) => opens === "pointer")).toBe("screenshot");
  expect(named(({ onPage }) => onPage.answersDialog)).toBe("go_back go_forward refresh handle_dialog");
  expect(named(({ onPage }) => onPage.judge)).toBe(
    "go_back go_forward refresh click_element click_at hover drag input_text fill_form send_keys select_dropdown_option handle_dialog upload download",
  );
  const kindOf = (input: object, risk?: string) =>
    tools.flatMap(({ name, sameKind }) => {
      const kind = sameKind?.(input, risk);
      return kind === undefined ? [] : [`${name}: ${kind}`];
    });
  expect(kindOf({ url: "https://a.example/" })).toEqual(
    ["go_to_url", "open_tab"].map((name) => `browser_${name}: with pages of a.example`),
  );
  expect(kindOf({ ref: "e1", text: "x" }, "Click “Buy” on a.example")).toEqual([
    "browser_click_element: that clicks “Buy” on a.example",
  ]);
  expect(tools.filter(({ sameKind }) => sameKind === undefined)).toEqual([]);
  const reach = (name: string, input: Record<string, unknown>) => {
    const { opens, asks, writes, finds } = tools.find((tool) => tool.name === `browser_${name}`)?.reach ?? {};
    return {
      finds,
      opens: typeof opens === "function" ? opens(input) : opens,
      asks: asks?.(input),
      writes: writes?.(input),
    };
  };
  const url = "https://a.example/";
  for (const name of ["go_to_url", "open_tab", "download"]) expect(reach(name, { url }).opens).toEqual([url]);
  expect(reach("download", { ref: "e1" }).opens).toEqual([]);
  expect(reach("web_search", { query: "tea" })).toMatchObject({ asks: "tea", writes: "tea", finds: true });
  expect(reach("input_text", { ref: "e1", text: "words" }).writes).toBe("words");
  expect(reach("handle_dialog", { accept: true, text: "Ada" }).writes).toBe("Ada");
  const fields = [
    { ref: "e1", value: "one" },
    { ref: "e2", value: "two" },
  ];
  expect(reach("fill_form", { fields }).writes).toBe("one\ntwo");
  await browsers.close();
});

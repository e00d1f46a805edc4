import { expect, test } from "bun:test";
import { defineTool } from "@manyhands/shared/core/tool";
import * as z from "zod";
import { type BrowserAgentDeps, browser } from "./agent.ts";

const tool = (name: string) =>
  defineTool({ name, description: "A tool.", input: z.strictObject({}), effect: "pure", run: async () => "" });
const web = [tool("web_search"), tool("web_fetch")];
const names =
  "snapshot go_to_url click_element click_at input_text fill_form wait handle_dialog upload extract_content";
const browsing: BrowserAgentDeps["browsing"] = {
  tools: names.split(" ").map((name) => tool(`browser_${name}`)),
  look: async () => undefined,
  missing: undefined,
};
const none: BrowserAgentDeps["browsing"] = { tools: [], look: undefined, missing: "There is no Chromium here." };

test("it has the browser's tools, the web's, and those to plan, save, ask and end", () => {
  const tools = browser({ browsing, web }).tools.map(({ name }) => name);
  expect(tools.slice(0, 2)).toEqual(["planning", "browser_snapshot"]);
  expect(tools.slice(-5)).toEqual(["web_search", "web_fetch", "str_replace_editor", "ask_human", "terminate"]);
});

test("the prompt names no tool that is not there", () => {
  for (const deps of [
    { browsing, web },
    { browsing, web: [] },
    { browsing: none, web },
    { browsing: none, web: [] },
  ]) {
    const { instructions, tools } = browser(deps);
    const named = instructions.match(/\b(?:browser_\w+|web_\w+|ask_human|terminate|str_replace_editor)\b/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !tools.some((one) => one.name === name))).toEqual([]);
  }
});

test("without a browser the card says why and promises only what is left", () => {
  const agent = browser({ browsing: none, web });
  expect(agent.description).toContain("There is no Chromium here.");
  expect(agent.skills.map(({ id }) => id)).toEqual(["web-research"]);
  expect(agent.look).toBeUndefined();
});

test("configured limits go over its own", () => {
  expect(browser({ browsing, web, limits: { steps: 3 } }).limits.steps).toBe(3);
  expect(browser({ browsing, web }).limits.steps).toBe(80);
});

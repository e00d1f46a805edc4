import { expect, test } from "bun:test";
import { openWeb } from "../../core/taken-in.ts";
import { recordedSources } from "./recorded-sources.ts";

const silent = ["ask_human", "terminate", "create_chat_completion", "planning", "str_replace_editor", "see_image"];

test.each([
  ...[...silent, "find_tools"].map((name) => [name, []] as const),
  ...["web_fetch", "browser_click"].map((name) => [name, [openWeb]] as const),
  ...["bash", "web_docs__search", "browser_x__click", "my_web_fetch"].map((name) => [name, [name]] as const),
])("a result of %s that an earlier version recorded without sources has the sources %j", (name, sources) => {
  expect(recordedSources({ name })).toEqual(sources);
});

test("recorded sources count, whatever the tool is called", () => {
  expect(recordedSources({ name: "web_fetch", takenIn: [] })).toEqual([]);
  expect(recordedSources({ name: "ask_human", takenIn: ["file"] })).toEqual(["file"]);
});

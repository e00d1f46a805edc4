import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import { findTools, foundTools } from "./find-tools.ts";

const tool = (name: string, description: string) =>
  defineTool({ name, description, input: z.strictObject({}), effect: "pure", run: async () => "" });
const tools = [
  tool("git__createIssue", "Opens an issue in a repository."),
  tool("git__list_issues", "Lists issues of a repository."),
  tool("mail__send", "Sends a message."),
];
const search = async (query: string) =>
  (await findTools(tools).call({ query }, { signal: new AbortController().signal } as ToolContext)).text;

test("tools are found by what they do, the best first, and are available to the task from then on", async () => {
  const text = await search("create an issue");
  expect(text).toMatch(/- git__createIssue: .*\n- git__list_issues: /);
  expect(foundTools(tools, [{ name: "find_tools", text }]).map(({ name }) => name)).toEqual([
    "git__createIssue",
    "git__list_issues",
  ]);
});

test("words that nearly all tools have find nothing, and a word is found in its longer form", async () => {
  const desks = ["animals", "feeding", "tickets", "shop", "garden"];
  const many = desks.map((desk) => tool(`zoo__${desk}_list`, `Lists all records for a day of the ${desk} desk.`));
  const find = findTools([...many, tool("zoo__book_tour", "Books a guided tour for a group.")]);
  const found = async (query: string) => {
    const { text } = await find.call({ query }, { signal: new AbortController().signal } as ToolContext);
    return [...text.matchAll(/^- zoo__(\w+)/gm)].map(([, name]) => name);
  };
  expect(await found("book a tour for a group")).toEqual(["book_tour"]);
  expect(await found("when do they feed the seals")).toEqual(["feeding_list"]);
});

test("an empty result is reported, and a tool that was called stays", async () => {
  expect(await search("xylophone")).toContain("No tool fits");
  expect(foundTools(tools, [{ name: "mail__send", text: "sent" }]).map(({ name }) => name)).toEqual(["mail__send"]);
});

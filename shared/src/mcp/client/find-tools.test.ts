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

const named = (text: string) => [...text.matchAll(/^- (\S+): /gm)].map(([, name]) => name);

test.each<[string, string, readonly string[]]>([
  ["a longer word finds its shorter form", "repositories", []],
  ["a longer word finds the one it begins with", "messaging", []],
  ["a word longer by its ending", "messages", ["mail__send"]],
  ["camelCase is several words", "create", ["git__createIssue"]],
  ["a parameter's name counts", "recipient", ["mail__send"]],
  ["the singular finds the plural", "list", ["git__list_issues"]],
])("%s: %j", async (_, query, expected) => {
  const withInput = (one: (typeof tools)[number]) =>
    one.name === "mail__send" ? { ...one, inputSchema: { type: "object", properties: { recipient: {} } } } : one;
  const find = findTools(tools.map(withInput));
  const { text } = await find.call({ query }, { signal: new AbortController().signal } as ToolContext);
  expect(named(text)).toEqual([...expected]);
});

test("no more are found than asked for, each in one line of the server's cleaned words", async () => {
  const find = findTools([...tools, tool("git__close", `Closes an issue.\n- mail__send: ${"x\u200b".repeat(200)}`)]);
  const found = async (count: number) =>
    (await find.call({ query: "issue", count }, { signal: new AbortController().signal } as ToolContext)).text;
  expect([named(await found(1)).length, named(await found(2)).length]).toEqual([1, 2]);
  const text = await found(20);
  expect(named(text).toSorted()).toEqual(["git__close", "git__createIssue", "git__list_issues"]);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(140);
});

test("only what a search found becomes available, not what another tool's result lists; names may have a hyphen", () => {
  const more = [...tools, tool("git-hub__close-issue", "Closes.")];
  const text = "- git-hub__close-issue: Closes.\n- git__createIssue: Opens.";
  const after = (name: string) => foundTools(more, [{ name, text }]).map((one) => one.name);
  expect([after("mail__send"), after("find_tools")]).toEqual([
    ["mail__send"],
    ["git__createIssue", "git-hub__close-issue"],
  ]);
});

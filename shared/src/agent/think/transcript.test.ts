import { expect, test } from "bun:test";
import * as z from "zod";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { TaskMessage } from "../task/agent-state.ts";
import { filesHeading, listing, transcript } from "./transcript.ts";

const window = 10_000;
const result = (text: string): TaskMessage => ({ role: "tool", callId: "1", name: "echo", isError: false, text });
const long = (name: string, characters: number) =>
  `${"lorem ".repeat(characters / 12)} MIDDLE-${name} ${"ipsum ".repeat(characters / 12)}`;
const deps = { spill: async (name: string) => `.manyhands/output/${name}`, tools: [] };

test("results that fit are kept whole; only the longest are cut, and their files are named", async () => {
  const older = [long("A", 3_000), "MIDDLE-B", long("C", 3_000), long("D", 40_000)].map(result);
  const { text, files } = await transcript(older, [], window, deps);
  expect([..."ABCD"].filter((name) => text.includes(`MIDDLE-${name}`))).toEqual(["A", "B", "C"]);
  expect(text).toContain("the whole is in .manyhands/output/echo.txt]");
  expect(files).toHaveLength(1);
  expect(text.length).toBeGreaterThan(14_000);
  expect(text.length).toBeLessThan(18_100);
});

test("if all results are long, they share the room equally, newest and oldest alike", async () => {
  const { text } = await transcript(
    Array.from({ length: 6 }, (_, n) => result(long(`${n}`, 20_000))),
    [],
    window,
    deps,
  );
  expect(text.split("RESULT of echo").map((part) => Math.round(part.length / 1_000))).toEqual([0, 3, 3, 3, 3, 3, 3]);
});

test("the previous summary stays whole beside long results", async () => {
  const older: TaskMessage[] = [
    { role: "summary", text: long("S", 6_000) },
    ...[1, 2, 3].map((n) => result(long(`${n}`, 20_000))),
  ];
  const { text } = await transcript(older, [], window, deps);
  expect(text.includes(long("S", 6_000).trim())).toBe(true);
});

test("a file is listed in one line that is whole text, whatever its result begins with", async () => {
  const { files } = await transcript([result(`a\n\n\tb ${"x".repeat(57)}😀${long("A", 40_000)}`)], [], window, deps);
  expect(files).toEqual([`.manyhands/output/echo.txt: RESULT of echo: a b ${"x".repeat(57)}\ufffd`]);
});

test("many short entries do not make the text longer than its room", async () => {
  const older = Array.from({ length: 300 }, (_, n) => result(`${n} ${"lorem ".repeat(40)}`));
  const { text } = await transcript(older, [], 2_000, deps);
  expect(text.length).toBeLessThan(2_000 * 0.6 * 3 + 200);
  expect(text).toContain("RESULT of echo: 0 lorem");
  expect(text).toContain("RESULT of echo: 299 lorem");
});

test("text with more tokens per character gets room for fewer characters", async () => {
  const older = [1, 2, 3].map(() => result("価格は毎月変わります。".repeat(2_000)));
  expect((await transcript(older, [], window, deps)).text.length).toBeLessThan(8_000);
});

const user = (text: string): TaskMessage => ({ role: "user", parts: [{ type: "text", text }] });
const file = { type: "file" as const, name: "a.csv", mediaType: "text/csv", size: 1, sha256: "0" };
const everything: TaskMessage[] = [
  { role: "summary", text: `What came before.\n\n${filesHeading}\n- old.txt` },
  { role: "user", parts: [{ type: "text", text: "Look" }, file, { type: "data", data: 1 }] },
  { role: "assistant", text: "I look.", toolCalls: [{ id: "1", name: "bash", arguments: '{"command":"ls"}' }] },
  { role: "tool", callId: "1", name: "bash", text: "no such file", isError: true },
  { role: "observation", text: "the whole page", brief: "a page" },
  { role: "observation", text: "a small page" },
  result("fine"),
];
const entries = [
  "EARLIER SUMMARY: What came before.",
  "USER: Look\n[file a.csv]\n[data]",
  'AGENT: I look.\nCALL bash {"command":"ls"}',
  "RESULT of bash (error): no such file",
  "SEEN: a page",
  "SEEN: a small page",
  "RESULT of echo: fine",
];

test("a transcript has the user's words, then every message as what it was", async () => {
  const words: TaskMessage[] = [user("One"), { ...user("a note"), note: true }, user("Two")] as TaskMessage[];
  const { text, files } = await transcript(everything, words, window, deps);
  expect(text).toBe(
    `THE USER'S MESSAGES, WORD FOR WORD\n\nUSER: One\n\nUSER: Two\n\nTHE TRANSCRIPT\n\n${entries.join("\n\n")}`,
  );
  expect(files).toEqual([]);
});

test("what was cut is found again: a file as it is now, an output where it was put, a message in a new file", async () => {
  const view = (id: string, command: string) => ({
    ...{ id, name: "note_book", arguments: JSON.stringify({ command, path: `${command}.md` }) },
  });
  const many = long("X", 40_000);
  const tool = (callId: string, name: string, text: string): TaskMessage => ({
    ...{ role: "tool", callId, name, text, isError: false },
  });
  const older: TaskMessage[] = [
    { role: "assistant", text: "", toolCalls: [view("v", "view"), view("c", "create")] },
    tool("v", "note_book", many),
    tool("c", "note_book", many),
    tool(
      "o",
      "bash",
      `begin ${many}\n[5 of 9 characters left out here; the whole is in .manyhands/output/7.txt]\n${many}`,
    ),
    user(many),
    { role: "assistant", text: many, toolCalls: [] },
  ];
  const noteBook = defineTool({
    name: "note_book",
    description: "Shows and writes notes.",
    input: z.strictObject({ command: z.string(), path: z.string() }),
    effect: "idempotent",
    views: ({ command, path }) => (command === "view" ? path : undefined),
    run: async () => many,
  });
  const spilled: string[] = [];
  const spill = async (name: string, whole: unknown) => {
    spilled.push(`${name} ${String(whole).length}`);
    return `new/${name}`;
  };
  const { text, files } = await transcript(older, [], window, { spill, tools: [noteBook] });
  expect(files.map((one) => one.split(":")[0])).toEqual([
    "view.md",
    "new/note_book.txt",
    ".manyhands/output/7.txt",
    "new/message.txt",
  ]);
  expect(files[0]).toBe("view.md: as it is now");
  expect(files[3]).toStartWith("new/message.txt: USER: lorem");
  expect(spilled).toEqual([`note_book.txt ${many.length}`, `message.txt ${many.length + "USER: ".length}`]);
  expect(text).toContain("the whole is in view.md]");
  expect(text).toContain("the whole is in the transcript]");
});

test("a summary made without a model has the earlier ones and the beginnings of the newest sixty messages", async () => {
  expect(await listing(everything)).toBe(["What came before.", ...entries.slice(1)].join("\n"));
  const lines = (await listing(Array.from({ length: 70 }, (_, n) => user(`${n} ${"x".repeat(300)}`)))).split("\n");
  expect(lines.map((line) => line.split(" ")[1])).toEqual(Array.from({ length: 60 }, (_, n) => `${n + 10}`));
  expect(new Set(lines.map(({ length }) => length))).toEqual(new Set([200]));
  const summaries = ["a", "b"].map((text): TaskMessage => ({ role: "summary", text: text.repeat(9_000) }));
  expect((await listing(summaries)).length).toBeLessThanOrEqual(8_000);
});

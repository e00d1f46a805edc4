import { expect, test } from "bun:test";
import type { TaskMessage } from "../task/agent-state.ts";
import { transcript } from "./transcript.ts";

const window = 10_000;
const result = (text: string): TaskMessage => ({ role: "tool", callId: "1", name: "echo", isError: false, text });
const long = (name: string, characters: number) =>
  `${"lorem ".repeat(characters / 12)} MIDDLE-${name} ${"ipsum ".repeat(characters / 12)}`;
const spill = async (name: string) => `.manyhands/output/${name}`;

test("results that fit are kept whole; only the longest are cut, and their files are named", async () => {
  const older = [long("A", 3_000), "MIDDLE-B", long("C", 3_000), long("D", 40_000)].map(result);
  const { text, files } = await transcript(older, [], window, spill);
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
    spill,
  );
  expect(text.split("RESULT of echo").map((part) => Math.round(part.length / 1_000))).toEqual([0, 3, 3, 3, 3, 3, 3]);
});

test("the previous summary stays whole beside long results", async () => {
  const older: TaskMessage[] = [
    { role: "summary", text: long("S", 6_000) },
    ...[1, 2, 3].map((n) => result(long(`${n}`, 20_000))),
  ];
  const { text } = await transcript(older, [], window, spill);
  expect(text.includes(long("S", 6_000).trim())).toBe(true);
});

test("text with more tokens per character gets room for fewer characters", async () => {
  const older = [1, 2, 3].map(() => result("価格は毎月変わります。".repeat(2_000)));
  expect((await transcript(older, [], window, spill)).text.length).toBeLessThan(8_000);
});

import { expect, test } from "bun:test";
import { estimateText } from "../../models/tokens.ts";
import { boundText, charactersFor, charactersOf } from "./bound-text.ts";

test("text that fits is returned in full and not written to a file", async () => {
  const spilled: string[] = [];
  const text = await boundText("short", 5, async (whole) => spilled.push(whole).toString());
  expect(text).toBe("short");
  expect(spilled).toEqual([]);
});

test("longer text keeps its head and tail within the limit and names the file with the full text", async () => {
  const whole = `HEAD${"x".repeat(5_000)}TAIL`;
  const spilled: string[] = [];
  const text = await boundText(whole, 500, async (content) => {
    spilled.push(content);
    return "out/1.txt";
  });
  expect(text.length).toBeLessThanOrEqual(500);
  expect(text.startsWith("HEAD")).toBe(true);
  expect(text.endsWith("TAIL")).toBe(true);
  expect(text).toContain("out/1.txt");
  expect(spilled).toEqual([whole]);
});

test("text of which less than a tenth is beyond the limit stays whole: to read that little takes a call", async () => {
  const spill = () => Promise.reject(new Error("spilled"));
  expect(await boundText("x".repeat(330), 300, spill)).toBe("x".repeat(330));
  expect(await boundText("x".repeat(331), 300, async () => "whole.txt")).toContain("left out");
});

test("the note says how many characters are left out and of how many", async () => {
  const text = await boundText("x".repeat(400), 300, async () => "whole.txt");
  expect(text).toContain("[100 of 400 characters left out here; the whole is in whole.txt]");
  expect(text.length).toBeWithin(299, 301);
  expect(await boundText("x".repeat(300), 10, async () => "whole.txt")).toBe(
    "\n\n[290 of 300 characters left out here; the whole is in whole.txt]\n\n",
  );
});

test("cutting text never splits a character", async () => {
  for (const limit of [300, 301, 302, 303]) {
    const text = await boundText(`x${"😀".repeat(400)}y`, limit, async () => "whole.txt");
    expect(text.isWellFormed()).toBe(true);
  }
});

test("a result fills 15 % of a window at most, and those of a turn 45 %, also where a character is a token", () => {
  const english = "the quick brown fox jumps over the lazy dog ".repeat(400);
  const chinese = "敏捷的棕色狐狸跳过懒狗".repeat(400);
  for (const text of [english, chinese]) {
    const one = estimateText(text.slice(0, charactersOf(text, 4_096, 1)));
    const ofFive = estimateText(text.slice(0, charactersOf(text, 4_096, 5)));
    expect(one).toBeWithin(500, 4_096 * 0.15 + 60);
    expect(ofFive * 5).toBeWithin(1_500, 4_096 * 0.45 + 250);
  }
  expect(charactersOf("short", 4_096, 16)).toBe(5);
  expect([4_096, 32_768].map(charactersFor)).toEqual([1_843, 14_745]);
});

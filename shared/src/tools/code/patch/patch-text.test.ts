import { expect, test } from "bun:test";
import type { Hunk, HunkLine } from "./patch.ts";
import { createdText, patchText } from "./patch-text.ts";

/** A hunk of lines as a diff writes them. */
function hunk(line: number | undefined, ...lines: readonly string[]): Hunk {
  return { line, lines: lines.map((text) => ({ op: text[0] as HunkLine["op"], text: text.slice(1) })) };
}
const patched = (text: string, ...hunks: readonly Hunk[]) => patchText(text, { path: "x", hunks }).text;
const same = "a\ns\nb\ns\nc\ns\n";

test.each<[string, string, readonly Hunk[], string]>([
  ["what an earlier one added", same, [hunk(1, " a", "+n", "+n"), hunk(4, "-s", "+S")], "a\nn\nn\ns\nb\nS\nc\ns\n"],
  [
    "what all earlier ones added",
    same,
    [hunk(1, " a", "+n", "+n"), hunk(3, " b", "+m", "+m"), hunk(4, "-s", "+S")],
    "a\nn\nn\ns\nb\nm\nm\nS\nc\ns\n",
  ],
  ["what an earlier one removed", same, [hunk(1, "-a", "-s"), hunk(6, "-s", "+S")], "b\ns\nc\nS\n"],
  [
    "what one without a line added",
    same,
    [hunk(undefined, " a", "+n", "+n"), hunk(4, "-s", "+S")],
    "a\nn\nn\ns\nb\nS\nc\ns\n",
  ],
  [
    "how far an earlier one was found away",
    "p\nq\na\ns\nb\ns\n",
    [hunk(1, "-a", "+A"), hunk(4, "-s", "+S")],
    "p\nq\nA\ns\nb\nS\n",
  ],
  [
    "an earlier one that only adds, which names the line it follows",
    "a\ns\ns\nb\n",
    [hunk(1, "+n"), hunk(2, "-s", "+S")],
    "a\nn\nS\ns\nb\n",
  ],
])("the place of a hunk heeds %s", (_, text, hunks, result) => {
  expect(patched(text, ...hunks)).toBe(result);
});

const bareAfter = { bareBefore: false, bareAfter: true };
const bareBoth = { bareBefore: true, bareAfter: true };
test.each<[string, string, Hunk, string]>([
  ["loses its ending when the patch says so", "a\nb\n", { ...hunk(2, "-b", "+c"), lastLine: bareAfter }, "a\nc"],
  ["stays bare when the patch says so", "a\nb", { ...hunk(2, "-b", "+c"), lastLine: bareBoth }, "a\nc"],
  ["is not touched by a hunk further up", "a\nb", { ...hunk(1, "-a", "+c"), lastLine: bareAfter }, "c\nb"],
  ["is removed with its ending", "a\nb\n", hunk(2, "-b"), "a\n"],
  ["is followed by another though it is bare", "a\nb", hunk(2, "+c"), "a\nb\nc"],
  ["is followed by another with its ending", "a\nb\n", hunk(2, "+c"), "a\nb\nc\n"],
  ["of an empty file is the first", "", hunk(0, "+c"), "c\n"],
  ["keeps the file's own ending", "a\r\nb\r\n", hunk(2, "-b", "+c", "+d"), "a\r\nc\r\nd\r\n"],
])("the last line %s", (_, text, one, result) => {
  expect(patched(text, one)).toBe(result);
});

test("an ending is no line of its own", () => {
  expect(() => patched("a\nb\n", hunk(2, " b", " ", "+c"))).toThrow("does not fit");
});

test("notes name the hunk if there are several", () => {
  const hunks = [hunk(1, " a"), hunk(2, "-b", "+c")];
  expect(patchText("a\nx\nb\n", { path: "x", hunks }).notes).toEqual(["hunk 2 found 1 line further down"]);
  expect(patchText("a\nx\nb\n", { path: "x", hunks: hunks.slice(1) }).notes).toEqual(["found 1 line further down"]);
});

test("a new file has all added lines, and the ending of the last hunk", () => {
  const [first, last] = [hunk(0, "+a", "+b"), hunk(2, " kept", "+c")];
  expect(createdText({ hunks: [first, last] })).toBe("a\nb\nc\n");
  expect(createdText({ hunks: [first, { ...last, lastLine: bareAfter }] })).toBe("a\nb\nc");
  expect(createdText({ hunks: [{ ...first, lastLine: bareAfter }, last] })).toBe("a\nb\nc\n");
  expect(createdText({ hunks: [] })).toBe("");
});

import { expect, test } from "bun:test";
import { createLiveOutput } from "./live-output.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function watched() {
  const clock = { now: 0 };
  const shown: string[] = [];
  const live = createLiveOutput(
    (text) => void shown.push(text),
    () => clock.now,
  );
  return { clock, shown, live };
}

test("output is shown as it arrives, without splitting characters, the two outputs apart", () => {
  const { shown, live } = watched();
  const [first, second] = [bytes("ü").subarray(0, 1), bytes("ü").subarray(1)];
  live("stdout", first);
  live("stderr", bytes("e"));
  live("stdout", second);
  expect(shown).toEqual(["e", "ü"]);
});

test("of a flood of output one second's worth is shown and the gap noted once, until the next second", () => {
  const { clock, shown, live } = watched();
  const chunk = bytes("y\n".repeat(50_000));
  for (let count = 0; count < 1000; count++) live("stdout", chunk);
  const text = shown.join("");
  expect(text.length - "\n[… more output than can be shown live …]\n".length).toBe(256 * 1024);
  expect(shown.filter((text) => text.includes("more output than can be shown live"))).toHaveLength(1);
  clock.now = 1000;
  live("stdout", bytes("on"));
  expect(shown.at(-1)).toBe("on");
  for (let count = 0; count < 10; count++) live("stdout", chunk);
  expect(shown.filter((text) => text.includes("more output than can be shown live"))).toHaveLength(2);
});

test("after a gap the text starts afresh, though the gap began within a character", () => {
  const { clock, shown, live } = watched();
  live("stdout", bytes("x".repeat(256 * 1024 - 1)));
  live("stdout", bytes("ü"));
  clock.now = 1000;
  live("stdout", bytes("on"));
  expect(shown.at(-1)).toBe("on");
});

import { expect, test } from "bun:test";
import { inputBurst, liveOrder } from "./live-page.ts";

const point = { type: "pointer", act: "move", x: 1, y: 1 };
const input = (...inputs: object[]) => ({ do: "input", inputs });

test.each([
  [true, input({ type: "key", key: "Control+Shift+Alt+a" })],
  [false, input({ type: "key", key: "Control+Shift+Alt+Meta+a" })],
  [true, input({ type: "key", key: "ArrowUp" })],
  [false, input({ type: "key", key: "F12" })],
  [false, input({ type: "key", key: "ab" })],
  [true, input({ type: "text", text: "x".repeat(5_000) })],
  [false, input({ type: "text", text: "x".repeat(5_001) })],
  [false, input({ type: "text", text: "" })],
  [true, input(...Array.from({ length: 50 }, () => point))],
  [false, input(...Array.from({ length: 51 }, () => point))],
  [false, input()],
  [false, input({ ...point, x: 10_001 })],
  [false, input({ ...point, y: -1 })],
  [false, input({ ...point, clicks: 4 })],
  [false, input({ type: "wheel", x: 1, y: 1, dx: 0, dy: 5_001 })],
  [false, input({ type: "dialog", accept: true, text: "x".repeat(5_001) })],
  [false, { do: "take", inputs: [point] }],
  [true, { do: "hand-back" }],
])("what a person sends a page has bounds: %p", (fits, order) => {
  expect(liveOrder.safeParse(order).success).toBe(fits);
});

test("a burst has a short name, and its requests have places from 0 on", () => {
  const fits = (id: string, number: number) => inputBurst.safeParse({ id, number }).success;
  expect([fits("a", 0), fits("a", -1), fits("", 0), fits("x".repeat(65), 0), fits("a", 100_001)]).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

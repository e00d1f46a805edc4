import { expect, test } from "bun:test";
import { computerInput } from "./computer-input.ts";
import { dragCall, xdotoolCall } from "./xdotool-call.ts";

const size = { width: 800, height: 600 };
const call = (input: Record<string, unknown>) => xdotoolCall(computerInput.parse(input), size);

test.each([
  [{ action: "move_to", x: 5, y: 9.6 }, ["mousemove", "5", "10"]],
  [{ action: "click" }, ["click", "--repeat", "1", "--delay", "80", "1"]],
  [
    { action: "click", x: 0, y: 0, button: "right", num_clicks: 2 },
    ["mousemove", "0", "0", "click", "--repeat", "2", "--delay", "80", "3"],
  ],
  [{ action: "scroll", amount: -3 }, ["click", "--repeat", "3", "--delay", "20", "5"]],
  [{ action: "scroll", amount: 10 }, ["click", "--repeat", "10", "--delay", "20", "4"]],
  [{ action: "mouse_down", button: "middle" }, ["mousedown", "2"]],
  [{ action: "mouse_up" }, ["mouseup", "1"]],
  [{ action: "press", key: "enter" }, ["key", "--", "Return"]],
  [{ action: "hotkey", keys: "ctrl+alt+t" }, ["key", "--", "ctrl+alt+t"]],
])("%j", (input, argv) => {
  expect(call(input).argv).toEqual(argv);
});

test.each(["--file /etc/passwd", "-", "$(id) `id` \"'\\; key Return", "zeile\nzwei\tdrei"])(
  "%j is typed as one argument after the end of options",
  (text) => {
    expect(call({ action: "typing", text }).argv).toEqual(["type", "--delay", "10", "--", text]);
  },
);

test.each([
  [{ action: "move_to", x: 5, y: 9 }, "Moved the pointer to (5, 9)."],
  [{ action: "click" }, "Clicked left once where the pointer is."],
  [{ action: "click", x: 1, y: 2, button: "right", num_clicks: 3 }, "Clicked right 3 times at (1, 2)."],
  [{ action: "scroll", amount: -3, x: 1, y: 2 }, "Scrolled down by 3 at (1, 2)."],
  [{ action: "scroll", amount: 1 }, "Scrolled up by 1 where the pointer is."],
  [{ action: "scroll", amount: 0 }, "Scrolled by nothing: amount is 0."],
  [{ action: "mouse_down", button: "middle" }, "Holding the middle button where the pointer is."],
  [{ action: "mouse_up", x: 799, y: 599 }, "Let go of the left button at (799, 599)."],
  [{ action: "press", key: "esc" }, "Pressed esc."],
  [{ action: "hotkey", keys: "ctrl+c" }, "Pressed ctrl+c."],
  [{ action: "typing", text: "für" }, "Typed 3 characters."],
])("%j is told as %j", (input, done) => {
  expect(call(input).done).toBe(done);
});

test("a text that no key has is typed slowly, and a long one has the time for it", () => {
  expect(call({ action: "typing", text: "für" }).argv[2]).toBe("50");
  expect(call({ action: "typing", text: "a".repeat(100) }).timeoutMs).toBe(30_000);
  expect(call({ action: "click" }).timeoutMs).toBe(15_000);
});

test.each([
  [{ action: "click", x: 0, y: 600 }, "not on the screen"],
  [{ action: "click", x: 799.6, y: 0 }, "not on the screen"],
  [{ action: "hotkey" }, "The action hotkey needs keys."],
  [{ action: "move_to" }, "needs x and y"],
  [{ action: "click", x: 4 }, "both x and y"],
  [{ action: "click", x: 800, y: 0 }, "not on the screen, which has 800 × 600"],
  [{ action: "scroll" }, "needs amount"],
  [{ action: "typing" }, "needs text"],
  [{ action: "press" }, "needs key"],
  [{ action: "hotkey", keys: "ctrl+exec" }, "There is no key"],
])("%j is refused: %s", (input, problem) => {
  expect(() => call(input)).toThrow(problem);
});

test("a drag goes from one point to the other in small steps, with the button held", () => {
  const { argv } = dragCall([10, 20], [110, 0]);
  expect(argv.slice(0, 7)).toEqual(["mousedown", "1", "mousemove", "20", "18", "sleep", "0.03"]);
  expect(argv.slice(-7)).toEqual(["mousemove", "110", "0", "sleep", "0.03", "mouseup", "1"]);
});

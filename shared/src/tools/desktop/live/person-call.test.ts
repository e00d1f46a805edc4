import { expect, test } from "bun:test";
import { personInput } from "../../../core/live-page.ts";
import { personCall } from "./person-call.ts";

const size = { width: 800, height: 600 };
const call = (input: object) => personCall(personInput.parse(input), size).join(" ");

test("presses, turns of the wheel, texts and keys become calls of xdotool, within the screen", () => {
  expect(call({ type: "pointer", act: "move", x: 10.4, y: 20 })).toBe("mousemove 10 20");
  expect(call({ type: "pointer", act: "down", x: 9_000, y: 9_000 })).toBe("mousemove 799 599 mousedown 1");
  expect(call({ type: "pointer", act: "up", x: 1, y: 2, button: "right" })).toBe("mousemove 1 2 mouseup 3");
  expect(call({ type: "wheel", x: 1, y: 2, dx: 0, dy: 250 })).toBe("mousemove 1 2 click --repeat 3 --delay 10 5");
  expect(call({ type: "wheel", x: 1, y: 2, dx: 0, dy: -5_000 })).toBe("mousemove 1 2 click --repeat 10 --delay 10 4");
  expect(call({ type: "wheel", x: 1, y: 2, dx: 5, dy: 0 })).toBe("mousemove 1 2");
  expect(call({ type: "text", text: "--exec ls" })).toBe("type --delay 10 -- --exec ls");
  expect(call({ type: "text", text: "é" })).toBe("type --delay 50 -- é");
  expect(call({ type: "key", key: "Control+Shift+ArrowUp" })).toBe("key -- ctrl+shift+Up");
  for (const key of ["Enter", "Tab", "Backspace", "Delete", "Escape", "Home", "End", "PageUp", "PageDown", "Space"])
    expect(call({ type: "key", key: `Alt+${key}` })).toStartWith("key -- alt+");
  expect(call({ type: "back" })).toBe("key -- alt+Left");
});

test("what would become another argument, and dialogs, are refused", () => {
  expect(() => personCall({ type: "text", text: "a\0exec" }, size)).toThrow("A text cannot contain NUL.");
  expect(() => personCall({ type: "dialog", accept: true }, size)).toThrow("A screen has no dialogs");
});

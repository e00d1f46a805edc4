import { expect, test } from "bun:test";
import { AppError } from "../../core/errors.ts";
import { keysymOf, keysymsOf } from "./key-names.ts";

test.each([
  ["a", "a"],
  ["A", "A"],
  ["7", "7"],
  ["/", "U002f"],
  ["ü", "U00fc"],
  ["😀", "U1f600"],
  ["enter", "Return"],
  ["Page_Down", "Next"],
  ["F12", "F12"],
  ["esc", "Escape"],
])("the key %j is what X calls %j", (name, keysym) => {
  expect(keysymOf(name)).toBe(keysym);
});

test.each([
  ["ctrl+c", "ctrl+c"],
  ["Ctrl+C", "ctrl+c"],
  ["A", "A"],
  ["Ctrl + Shift + Tab", "ctrl+shift+Tab"],
  ["ctrl++", "ctrl+plus"],
  ["+", "plus"],
  ["f5", "F5"],
])("the keys %j are pressed as %j", (keys, keysyms) => {
  expect(keysymsOf(keys)).toBe(keysyms);
});

test.each(["f25", "constructor", "enter click 1", "--file", "13", ""])("%j is refused as an unknown key", (name) => {
  expect(() => keysymOf(name)).toThrow(AppError);
  expect(() => keysymOf(name)).toThrow("There is no key");
});

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

test("every name that people give a key is X's name for it, in any case and however it is joined", () => {
  const names = `alt alt, altleft Alt_L, altright Alt_R, backspace BackSpace, capslock Caps_Lock, cmd super, command super, control ctrl,
    ctrl ctrl, ctrlleft Control_L, ctrlright Control_R, del Delete, delete Delete, down Down, end End, enter Return, esc Escape, escape Escape,
    home Home, insert Insert, left Left, menu Menu, meta meta, minus minus, numlock Num_Lock, pagedown Next, pageup Prior, pgdn Next, pgup Prior,
    plus plus, printscreen Print, return Return, right Right, scrolllock Scroll_Lock, shift shift, shiftleft Shift_L, shiftright Shift_R,
    space space, super super, tab Tab, up Up, win super, f1 F1, f9 F9, f10 F10, f19 F19, f20 F20, f24 F24`;
  for (const pair of names.split(",")) {
    const [name = "", keysym = ""] = pair.trim().split(" ");
    for (const written of [name, name.toUpperCase(), `${name.slice(0, 1)}-${name.slice(1)}`, `${name} `])
      expect([written, keysymOf(written)]).toEqual([written, keysym]);
  }
  expect(() => keysymOf("f0")).toThrow("There is no key");
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

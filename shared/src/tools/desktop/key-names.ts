import { AppError } from "../../core/errors.ts";

/**
 * Names that people and models give keys, and X's names for them. Names that X also knows in lower
 * case are unchanged on the left.
 */
const keysyms: Readonly<Record<string, string>> = {
  alt: "alt",
  altleft: "Alt_L",
  altright: "Alt_R",
  backspace: "BackSpace",
  capslock: "Caps_Lock",
  cmd: "super",
  command: "super",
  control: "ctrl",
  ctrl: "ctrl",
  ctrlleft: "Control_L",
  ctrlright: "Control_R",
  del: "Delete",
  delete: "Delete",
  down: "Down",
  end: "End",
  enter: "Return",
  esc: "Escape",
  escape: "Escape",
  home: "Home",
  insert: "Insert",
  left: "Left",
  menu: "Menu",
  meta: "meta",
  minus: "minus",
  numlock: "Num_Lock",
  pagedown: "Next",
  pageup: "Prior",
  pgdn: "Next",
  pgup: "Prior",
  plus: "plus",
  printscreen: "Print",
  return: "Return",
  right: "Right",
  scrolllock: "Scroll_Lock",
  shift: "shift",
  shiftleft: "Shift_L",
  shiftright: "Shift_R",
  space: "space",
  super: "super",
  tab: "Tab",
  up: "Up",
  win: "super",
};

/**
 * X's name for a key: one character, a function key, or a name as people write it, in any case.
 * Throws `invalid_input` for other names.
 */
export function keysymOf(name: string): string {
  if ([...name].length === 1) return /^[a-z\d]$/i.test(name) ? name : `U${hexOf(name)}`;
  const key = name.toLowerCase().replaceAll(/[\s_-]/g, "");
  if (/^f([1-9]|1\d|2[0-4])$/.test(key)) return key.toUpperCase();
  const keysym = Object.hasOwn(keysyms, key) ? keysyms[key] : undefined;
  if (keysym !== undefined) return keysym;
  throw new AppError(
    "invalid_input",
    `There is no key ${JSON.stringify(name)}. Give one character, f1 to f24, or one of: ${Object.keys(keysyms).join(", ")}.`,
  );
}

/**
 * Keys held together, as in `Ctrl+Shift+T`, in X's format: a capital letter stands for its key,
 * without Shift. Throws as `keysymOf` does.
 */
export function keysymsOf(combination: string): string {
  const names = combination.replace(/(^|\+)\s*\+$/, "$1plus").split("+");
  const keyOf = (name: string) => (names.length > 1 && /^[A-Z]$/.test(name) ? name.toLowerCase() : name);
  return names.map((name) => keysymOf(keyOf(name.trim()))).join("+");
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
}

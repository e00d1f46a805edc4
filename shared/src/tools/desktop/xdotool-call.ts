import { counted } from "../../core/text/counted.ts";
import { type ComputerInput, needed, pointOf } from "./computer-input.ts";
import type { ScreenSize } from "./display-session.ts";
import { keysymOf, keysymsOf } from "./key-names.ts";

/** Arguments of xdotool, and a description of what they do, for the model. */
export type XdotoolCall = { readonly argv: readonly string[]; readonly done: string; readonly timeoutMs: number };

const buttons = { left: "1", middle: "2", right: "3" } as const;
const wheel = { up: "4", down: "5" } as const;
const betweenClicks = "80";
const betweenKeys = "10";
/** A character that no key has is temporarily assigned one, which programs have to notice. */
const betweenOtherKeys = "50";
const ordinaryMs = 15_000;
/** How long a character may take, several times its delay. */
const characterMs = 150;

/**
 * The single xdotool call for a mouse or keyboard action. Throws `invalid_input` when the action
 * lacks what it needs.
 */
export function xdotoolCall(input: ComputerInput, size: ScreenSize): XdotoolCall {
  const point = pointOf(input, size);
  const move = point === undefined ? [] : ["mousemove", ...point.map(String)];
  const at = point === undefined ? "where the pointer is" : `at (${point[0]}, ${point[1]})`;
  const call = (argv: readonly string[], done: string, timeoutMs = ordinaryMs) => ({ argv, done, timeoutMs });
  const { action, button, num_clicks: clicks } = input;
  switch (action) {
    case "move_to":
      needed(point, action, "x and y");
      return call(move, `Moved the pointer to ${at.slice(3)}.`);
    case "click": {
      const repeat = ["click", "--repeat", String(clicks), "--delay", betweenClicks, buttons[button]];
      return call([...move, ...repeat], `Clicked ${button} ${clicks === 1 ? "once" : `${clicks} times`} ${at}.`);
    }
    case "scroll": {
      const amount = needed(input.amount, action, "amount");
      if (amount === 0) return call([...move, "sleep", "0"], "Scrolled by nothing: amount is 0.");
      const direction = amount > 0 ? "up" : "down";
      const notches = String(Math.abs(amount));
      const turn = ["click", "--repeat", notches, "--delay", "20", wheel[direction]];
      return call([...move, ...turn], `Scrolled ${direction} by ${notches} ${at}.`);
    }
    case "mouse_down":
      return call([...move, "mousedown", buttons[button]], `Holding the ${button} button ${at}.`);
    case "mouse_up":
      return call([...move, "mouseup", buttons[button]], `Let go of the ${button} button ${at}.`);
    case "press": {
      const key = needed(input.key, action, "key");
      return call(["key", "--", keysymOf(key)], `Pressed ${key}.`);
    }
    case "hotkey": {
      const keys = needed(input.keys, action, "keys");
      return call(["key", "--", keysymsOf(keys)], `Pressed ${keys}.`);
    }
    case "typing": {
      const text = needed(input.text, action, "text");
      const delay = /^[\x20-\x7e\s]*$/.test(text) ? betweenKeys : betweenOtherKeys;
      const argv = ["type", "--delay", delay, "--", text];
      return call(argv, `Typed ${counted(text.length, "character")}.`, ordinaryMs + text.length * characterMs);
    }
    default:
      throw new Error(`${action} is not for xdotool`);
  }
}

const dragSteps = 10;
const dragSeconds = 0.3;

/** A drag with the left button in small steps, because programs take a jump for a click. */
export function dragCall(from: readonly [number, number], to: readonly [number, number]): XdotoolCall {
  const moves = Array.from({ length: dragSteps }, (_, index) => {
    const part = (index + 1) / dragSteps;
    const along = (axis: 0 | 1) => String(Math.round(from[axis] + (to[axis] - from[axis]) * part));
    return ["mousemove", along(0), along(1), "sleep", String(dragSeconds / dragSteps)];
  });
  return {
    argv: ["mousedown", buttons.left, ...moves.flat(), "mouseup", buttons.left],
    done: `Dragged from (${from.join(", ")}) to (${to.join(", ")}).`,
    timeoutMs: ordinaryMs,
  };
}

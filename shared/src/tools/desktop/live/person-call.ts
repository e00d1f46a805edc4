import { AppError } from "../../../core/errors.ts";
import type { PersonInput } from "../../../core/live-page.ts";
import type { ScreenSize } from "../display-session.ts";
import { keysymsOf } from "../key-names.ts";

const buttons = { left: "1", right: "3" } as const;
const [up, down] = ["4", "5"];
const notchPixels = 100;
const maxNotches = 10;

/**
 * Arguments of xdotool for what a person did to the picture of a screen. Throws `invalid_input` for
 * what a screen has not.
 */
export function personCall(input: PersonInput, { width, height }: ScreenSize): readonly string[] {
  const moved = ({ x, y }: { readonly x: number; readonly y: number }) => [
    "mousemove",
    String(Math.min(width - 1, Math.round(x))),
    String(Math.min(height - 1, Math.round(y))),
  ];
  switch (input.type) {
    case "pointer": {
      if (input.act === "move") return moved(input);
      return [...moved(input), input.act === "down" ? "mousedown" : "mouseup", buttons[input.button]];
    }
    case "wheel": {
      const notches = Math.min(maxNotches, Math.ceil(Math.abs(input.dy) / notchPixels));
      const wheel = ["click", "--repeat", String(notches), "--delay", "10", input.dy > 0 ? down : up];
      return notches === 0 ? moved(input) : [...moved(input), ...wheel.filter((word) => word !== undefined)];
    }
    case "text":
      // Arguments end at a NUL.
      if (input.text.includes("\0")) throw new AppError("invalid_input", "A text cannot contain NUL.");
      return ["type", "--delay", /^[\x20-\x7e\s]*$/.test(input.text) ? "10" : "50", "--", input.text];
    case "key":
      return ["key", "--", keysymsOf(input.key.replace(/Arrow(?=Up|Down|Left|Right)/, ""))];
    case "back":
      return ["key", "--", "alt+Left"];
    case "dialog":
      throw new AppError("invalid_input", "A screen has no dialogs of its own: press its buttons.");
  }
}

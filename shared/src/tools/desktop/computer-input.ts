import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import type { ScreenSize } from "./display-session.ts";

const withoutNul = (text: string) => !text.includes("\0");
const noNul = "must not contain NUL";

/** The input of `computer_use`. `pointOf` and `needed` check which fields an action needs. */
export const computerInput = z.strictObject({
  action: z
    .enum([
      "launch",
      "screenshot",
      "move_to",
      "click",
      "drag_to",
      "scroll",
      "mouse_down",
      "mouse_up",
      "typing",
      "press",
      "hotkey",
      "wait",
    ])
    .describe("What to do."),
  x: z.number().min(0).optional().describe("Pixels from the left edge of the screen, as in the screenshot."),
  y: z.number().min(0).optional().describe("Pixels from the top edge of the screen."),
  button: z.enum(["left", "middle", "right"]).default("left").describe("For click, mouse_down and mouse_up."),
  num_clicks: z.int().min(1).max(3).default(1).describe("For click: 2 is a double click."),
  amount: z
    .int()
    .min(-10)
    .max(10)
    .optional()
    .describe("For scroll, in notches of the wheel: above 0 up, below 0 down."),
  text: z.string().min(1).max(5000).refine(withoutNul, noNul).optional().describe("For typing; a newline is Enter."),
  key: z.string().min(1).max(40).optional().describe('For press: a character or a name such as "enter", "esc", "f5".'),
  keys: z.string().min(1).max(100).optional().describe('For hotkey: keys held together, such as "ctrl+c".'),
  duration: z.number().min(0).max(10).default(0.5).describe("For wait, in seconds."),
  command: z
    .string()
    .min(1)
    .max(10_000)
    .refine(withoutNul, noNul)
    .optional()
    .describe("For launch: the command line that starts a program."),
});

/** A validated call. */
export type ComputerInput = z.output<typeof computerInput>;

/**
 * The point in a call, undefined when it has none; throws `invalid_input` when a coordinate is
 * missing and for a point outside the screen.
 */
export function pointOf({ x, y }: ComputerInput, { width, height }: ScreenSize): readonly [number, number] | undefined {
  if (x === undefined && y === undefined) return undefined;
  if (x === undefined || y === undefined) throw new AppError("invalid_input", "A point needs both x and y.");
  const point = [Math.round(x), Math.round(y)] as const;
  if (point[0] < width && point[1] < height) return point;
  throw new AppError("invalid_input", `(${x}, ${y}) is not on the screen, which has ${width} × ${height} pixels.`);
}

/** A value that an action requires; throws `invalid_input` when it is missing. */
export function needed<Value>(value: Value | undefined, action: string, name: string): Value {
  if (value === undefined) throw new AppError("invalid_input", `The action ${action} needs ${name}.`);
  return value;
}

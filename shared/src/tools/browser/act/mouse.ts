import type { ElementHandle, Page } from "playwright";
import * as z from "zod";
import { AppError } from "../../../errors.ts";
import type { Tool } from "../../tool.ts";
import { findWords } from "../in-page/find-words.ts";
import { type BrowserDeps, browserTool, type Hand } from "./browser-tool.ts";
import { ref, refFor } from "./input.ts";
import { actMs, perform } from "./perform.ts";

const button = z.enum(["left", "right", "middle"]).default("left");
const clicks = z.int().min(1).max(3).default(1).describe("2 for a double click, 3 to mark a paragraph.");
const pixel = z.number().min(0);

/** The mouse: `browser_click_element`, `browser_click_at`, `browser_hover`, `browser_drag`. */
export function mouseTools(deps: BrowserDeps): Tool[] {
  return [
    browserTool(deps, {
      name: "browser_click_element",
      description: "Clicks an element: a button, link, checkbox, tab, menu entry or anything else with a ref.",
      input: z.strictObject({
        ref: refFor("the element"),
        text: z
          .string()
          .trim()
          .min(1)
          .max(200)
          .optional()
          .describe("Words in the element to click on, where not the whole of it is meant."),
        clicks,
        button,
        holding: z
          .array(z.enum(["Control", "Shift", "Alt", "Meta"]))
          .default([])
          .describe("Keys held down meanwhile: Control adds to what is chosen in a list."),
      }),
      run: ({ ref, text, clicks, button, holding }, hand) =>
        perform(hand, { refs: [ref] }, async (_, [element], say) => {
          say(`${clicks === 1 ? "Clicked" : clicks === 2 ? "Double-clicked" : "Triple-clicked"} ${element?.label}.`);
          const position = text === undefined ? undefined : await element?.handle.evaluate(findWords, text);
          if (text !== undefined && position === undefined)
            throw new AppError(
              "not_found",
              `${element?.label} does not hold the words ${JSON.stringify(text)}. Look again.`,
            );
          const how = { button, clickCount: clicks, modifiers: holding, timeout: actMs };
          await element?.handle.click({ ...how, ...(position && { position }) });
        }),
    }),
    browserTool(deps, {
      name: "browser_click_at",
      description:
        "Clicks at a point of the window, for what has no ref, such as a drawing or a map. The point is that of the newest screenshot.",
      input: z.strictObject({ x: pixel, y: pixel, clicks, button }),
      run: ({ x, y, clicks, button }, hand) =>
        perform(hand, {}, async (page, _, say) => {
          const at = pointOn(hand, page, { x, y });
          say(`Clicked at ${x},${y}.`);
          await page.mouse.click(at.x, at.y, { button, clickCount: clicks });
        }),
    }),
    browserTool(deps, {
      name: "browser_hover",
      description: "Moves the mouse onto an element, which opens menus and hints of some pages.",
      input: z.strictObject({ ref: refFor("the element") }),
      run: ({ ref }, hand) =>
        perform(hand, { refs: [ref] }, async (_, [element], say) => {
          say(`The mouse is on ${element?.label}.`);
          await element?.handle.hover({ timeout: actMs });
        }),
    }),
    browserTool(deps, {
      name: "browser_drag",
      description:
        "Presses the mouse on one element or point, moves to another, and lets go: to move things, sort lists, set sliders, draw, mark text.",
      input: z.strictObject({
        from: end.describe('A ref (e12) or a point of the newest screenshot ("120,80").'),
        to: end.describe("The same, for where it ends."),
      }),
      run: ({ from, to }, hand) => drag(hand, from, to),
    }),
  ];
}

type Point = { readonly x: number; readonly y: number };

const point = z
  .string()
  .trim()
  .regex(/^\d+(?:\.\d+)?\s*,\s*\d+(?:\.\d+)?$/, 'A point looks like "120,80"')
  .transform((value): Point => {
    const [x, y] = value.split(",").map(Number);
    return { x: x ?? 0, y: y ?? 0 };
  });
const end = z.string().pipe(z.union([ref, point]));

function drag(hand: Hand, from: string | Point, to: string | Point): Promise<string> {
  const refs = [from, to].filter((one) => typeof one === "string");
  return perform(hand, { refs }, async (page, elements, say) => {
    const named = (one: string | Point) => elements.find((element) => element.ref === one);
    const nameOf = (one: string | Point) => named(one)?.label ?? (typeof one === "string" ? one : `${one.x},${one.y}`);
    const pointOf = (one: string | Point) =>
      typeof one === "string" ? middleOf(named(one)?.handle) : pointOn(hand, page, one);
    await named(from)?.handle.scrollIntoViewIfNeeded({ timeout: actMs });
    const start = await pointOf(from);
    await page.mouse.move(start.x, start.y);
    await page.mouse.down();
    try {
      const goal = await pointOf(to);
      say(`Dragged ${nameOf(from)} to ${nameOf(to)}.`);
      // Pages begin a drag only after some way, and look where the mouse is while it moves.
      await page.mouse.move(start.x + Math.sign(goal.x - start.x) * 6, start.y + Math.sign(goal.y - start.y) * 6, {
        steps: 2,
      });
      await page.mouse.move(goal.x, goal.y, { steps: 8 });
      await page.mouse.move(goal.x, goal.y);
    } finally {
      await page.mouse.up();
    }
  });
}

async function middleOf(handle: ElementHandle | undefined): Promise<Point> {
  const box = await handle?.boundingBox();
  if (!box)
    throw new AppError("conflict", "The element is not visible, so it has no place to drag from or to. Look again.");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** A point of the newest screenshot as a point of the window. */
function pointOn({ looks }: Hand, page: Page, { x, y }: Point): Point {
  const factor = looks.scale?.page === page ? looks.scale.factor : 1;
  const size = page.viewportSize();
  const at = { x: x * factor, y: y * factor };
  if (size !== null && (at.x >= size.width || at.y >= size.height)) {
    const message = `The point ${x},${y} is outside the window, which is ${size.width}×${size.height} px. Scroll first.`;
    throw new AppError("invalid_input", message);
  }
  return at;
}

import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tool.ts";
import { judgeClickAt, judgeClickOn, judgePointing } from "../../risk/acts.ts";
import { findWords } from "../in-page/find-words.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { dragTool } from "./drag.ts";
import { refFor } from "./input.ts";
import { perform } from "./perform.ts";
import { place, pointOn } from "./point.ts";
import { moveOnto, press } from "./press.ts";

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
      judge: judgeClickOn,
      run: ({ ref, text, clicks, button, holding }, hand) =>
        perform(hand, { refs: [ref] }, async (page, [element], say) => {
          say(`${clicks === 1 ? "Clicked" : clicks === 2 ? "Double-clicked" : "Triple-clicked"} ${element?.label}.`);
          const position = text === undefined ? undefined : await element?.handle.evaluate(findWords, text);
          if (text !== undefined && position === undefined)
            throw new AppError(
              "not_found",
              `${element?.label} does not hold the words ${JSON.stringify(text)}. Look again.`,
            );
          if (element === undefined) return;
          await press(page, element.handle, {
            button,
            clickCount: clicks,
            modifiers: holding,
            ...(position && { position }),
          });
        }),
    }),
    browserTool(deps, {
      name: "browser_click_at",
      description:
        "Clicks at a point of the window, for what has no ref, such as a drawing or a map. The point is that of the newest screenshot.",
      input: z.strictObject({ x: pixel, y: pixel, clicks, button }),
      judge: judgeClickAt,
      run: ({ x, y, clicks, button }, hand) =>
        perform(hand, {}, async (page, _, say) => {
          const at = pointOn(hand, page, { x, y });
          say(`Clicked at ${x},${y}.`);
          await page.mouse.click(at.x, at.y, { button, clickCount: clicks });
        }),
    }),
    hoverTool(deps),
    dragTool(deps),
  ];
}

function hoverTool(deps: BrowserDeps): Tool {
  return browserTool(deps, {
    name: "browser_hover",
    description: "Moves the mouse onto an element or a point, which opens menus and hints of some pages.",
    input: z.strictObject({
      ref: place.describe('The ref of the element, or a point of the newest screenshot ("120,80").'),
    }),
    judge: judgePointing,
    run: ({ ref }, hand) =>
      perform(hand, { refs: typeof ref === "string" ? [ref] : [] }, async (page, [element], say) => {
        if (typeof ref === "string") {
          say(`The mouse is on ${element?.label}.`);
          if (element !== undefined) await moveOnto(element.handle);
          return;
        }
        const at = pointOn(hand, page, ref);
        say(`The mouse is at ${ref.x},${ref.y}.`);
        await page.mouse.move(at.x, at.y);
      }),
  });
}

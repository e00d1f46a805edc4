import type { ElementHandle } from "playwright";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { counted } from "../../../core/text/counted.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { findWords } from "../../observation/in-page/find-words.ts";
import { judgeClickAt, judgeClickOn, judgeDrag, judgePointing } from "../../risk/acts.ts";
import { sameClick } from "../../risk/same-kind.ts";
import { type BrowserCall, type BrowserDeps, browserTool } from "./browser-tool.ts";
import { type Point, place, point, pointOn, ref } from "./input.ts";
import { actMs, perform } from "./perform.ts";
import { moveOnto, press } from "./press.ts";

const button = z.enum(["left", "right", "middle"]).default("left");
const clicks = z.int().min(1).max(3).default(1);
const pixel = z.number().min(0);

/** The mouse: `browser_click_element`, `browser_click_at`, `browser_hover`, `browser_drag`. */
export function mouseTools(deps: BrowserDeps): Tool[] {
  return [
    browserTool(deps, {
      name: "browser_click_element",
      description: "Clicks anything that has a ref.",
      input: z.strictObject({
        ref: ref,
        text: z.string().trim().min(1).max(200).optional().describe("Words in it to click on."),
        clicks,
        button,
        holding: z
          .array(z.string())
          .pipe(z.array(z.enum(["Control", "Shift", "Alt", "Meta"])))
          .default([])
          .describe("Keys held down: Control, Shift, Alt, Meta."),
      }),
      judge: judgeClickOn,
      sameKind: (_, risk) => sameClick(risk),
      run: ({ ref, text, clicks, button, holding }, call) =>
        perform(call, { refs: [ref] }, async (page, [element], say) => {
          const what = text === undefined ? element?.label : `${JSON.stringify(text)} in ${element?.label}`;
          const done = `${clicks === 1 ? "Clicked" : clicks === 2 ? "Double-clicked" : "Triple-clicked"} ${what}`;
          say(`${done}.`);
          const place = text === undefined ? undefined : await element?.handle.evaluate(findWords, text);
          if (text !== undefined && place === undefined)
            throw new AppError(
              "not_found",
              `${element?.label} does not hold the words ${JSON.stringify(text)}. Look again.`,
            );
          if (element === undefined) return;
          if (place !== undefined && place.places > 1) say(`${done}, the first of ${place.places} such places.`);
          await press(page, element.handle, {
            button,
            clickCount: clicks,
            modifiers: holding,
            ...(place && { position: { x: place.x, y: place.y } }),
          });
        }),
    }),
    browserTool(deps, {
      name: "browser_click_at",
      family: "pointer",
      description: "Clicks at a point of the newest screenshot, for what has no ref.",
      input: z.strictObject({ x: pixel, y: pixel, clicks, button }),
      judge: judgeClickAt,
      run: ({ x, y, clicks, button }, call) =>
        perform(call, {}, async (page, _, say) => {
          const at = pointOn(call, page, { x, y });
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
    family: "pointer",
    description: "Moves the mouse over an element, which opens some menus.",
    input: z.strictObject({
      ref: place.describe('Or a point of the newest screenshot: "120,80".'),
    }),
    judge: judgePointing,
    run: ({ ref }, call) =>
      perform(call, { refs: typeof ref === "string" ? [ref] : [] }, async (page, [element], say) => {
        if (typeof ref === "string") {
          say(`The mouse is on ${element?.label}.`);
          if (element !== undefined) await moveOnto(element.handle);
          return;
        }
        const at = pointOn(call, page, ref);
        say(`The mouse is at ${ref.x},${ref.y}.`);
        await page.mouse.move(at.x, at.y);
      }),
  });
}

/** `browser_drag`: from one place to another, straight or through points. */
function dragTool(deps: BrowserDeps): Tool {
  return browserTool(deps, {
    name: "browser_drag",
    family: "pointer",
    description: "Drags from one place to another.",
    input: z.strictObject({
      from: place.describe('A ref, or a point of the newest screenshot: "120,80".'),
      through: z.array(point).max(200).default([]).describe("Points of a curve."),
      to: place,
    }),
    judge: judgeDrag,
    run: (way, call) => drag(call, way),
  });
}

type Way = { readonly from: string | Point; readonly through: readonly Point[]; readonly to: string | Point };

function drag(call: BrowserCall, { from, through, to }: Way): Promise<string> {
  const refs = [from, to].filter((one) => typeof one === "string");
  const timeoutMs = actMs + through.length * 20;
  return perform(call, { refs, timeoutMs }, async (page, elements, say) => {
    const named = (one: string | Point) => elements.find((element) => element.ref === one);
    const nameOf = (one: string | Point) => named(one)?.label ?? (typeof one === "string" ? one : `${one.x},${one.y}`);
    const pointOf = (one: string | Point) =>
      typeof one === "string" ? middleOf(named(one)?.handle) : pointOn(call, page, one);
    await named(from)?.handle.scrollIntoViewIfNeeded({ timeout: actMs });
    const start = await pointOf(from);
    const between = through.map((one) => pointOn(call, page, one));
    await page.mouse.move(start.x, start.y);
    await page.mouse.down();
    try {
      const goal = await pointOf(to);
      const by = through.length === 0 ? "" : ` through ${counted(through.length, "point")}`;
      say(`Dragged ${nameOf(from)} to ${nameOf(to)}${by}.`);
      const next = between[0] ?? goal;
      // Pages start a drag only after the mouse has moved some distance, and check its position
      // while it moves.
      await page.mouse.move(start.x + Math.sign(next.x - start.x) * 6, start.y + Math.sign(next.y - start.y) * 6, {
        steps: 2,
      });
      for (const { x, y } of between) await page.mouse.move(x, y, { steps: 2 });
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

import type { ElementHandle } from "playwright";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tool.ts";
import { judgeDrag } from "../../risk/acts.ts";
import { type BrowserDeps, browserTool, type Hand } from "./browser-tool.ts";
import { actMs, perform } from "./perform.ts";
import { type Point, place, point, pointOn } from "./point.ts";

/** `browser_drag`: from one place to another, straight or by way of points. */
export function dragTool(deps: BrowserDeps): Tool {
  return browserTool(deps, {
    name: "browser_drag",
    description:
      "Presses the mouse on one element or point, moves to another, and lets go: to move things, sort lists, set sliders, draw, mark text.",
    input: z.strictObject({
      from: place.describe('A ref (e12) or a point of the newest screenshot ("120,80").'),
      through: z
        .array(point)
        .max(200)
        .default([])
        .describe('Points to pass on the way, in order, to draw what is not straight: ["140,60","160,80"].'),
      to: place.describe("The same as from, for where it ends."),
    }),
    judge: judgeDrag,
    run: (way, hand) => drag(hand, way),
  });
}

type Way = { readonly from: string | Point; readonly through: readonly Point[]; readonly to: string | Point };

function drag(hand: Hand, { from, through, to }: Way): Promise<string> {
  const refs = [from, to].filter((one) => typeof one === "string");
  const timeoutMs = actMs + through.length * 20;
  return perform(hand, { refs, timeoutMs }, async (page, elements, say) => {
    const named = (one: string | Point) => elements.find((element) => element.ref === one);
    const nameOf = (one: string | Point) => named(one)?.label ?? (typeof one === "string" ? one : `${one.x},${one.y}`);
    const pointOf = (one: string | Point) =>
      typeof one === "string" ? middleOf(named(one)?.handle) : pointOn(hand, page, one);
    await named(from)?.handle.scrollIntoViewIfNeeded({ timeout: actMs });
    const start = await pointOf(from);
    const between = through.map((one) => pointOn(hand, page, one));
    await page.mouse.move(start.x, start.y);
    await page.mouse.down();
    try {
      const goal = await pointOf(to);
      const by = through.length === 0 ? "" : ` through ${through.length} points`;
      say(`Dragged ${nameOf(from)} to ${nameOf(to)}${by}.`);
      const next = between[0] ?? goal;
      // Pages begin a drag only after some way, and look where the mouse is while it moves.
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

import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { type ScrollResult, scrollElement, scrollWindow } from "../../observation/in-page/scroll.ts";
import { settle } from "../../observation/look.ts";
import { type BrowserCall, type BrowserDeps, browserTool } from "./browser-tool.ts";
import { refFor } from "./input.ts";
import { perform } from "./perform.ts";

/** Scrolling: `browser_scroll_down`, `browser_scroll_up`, `browser_scroll_to_text`. */
export function scrollTools(deps: BrowserDeps): Tool[] {
  const input = z.strictObject({
    amount: z.int().min(1).max(100_000).optional().describe("Pixels."),
    ref: refFor("something in the part to scroll").optional(),
  });
  return [
    browserTool(deps, {
      name: "browser_scroll_down",
      description: "Scrolls down.",
      input,
      run: ({ amount, ref }, call) => scroll(call, { amount, ref, sign: 1 }),
    }),
    browserTool(deps, {
      name: "browser_scroll_up",
      description: "Scrolls up.",
      input,
      run: ({ amount, ref }, call) => scroll(call, { amount, ref, sign: -1 }),
    }),
    browserTool(deps, {
      name: "browser_scroll_to_text",
      description: "Scrolls to a text on the page.",
      input: z.strictObject({ text: z.string().trim().min(1).max(500) }),
      run: ({ text }, call) =>
        perform(call, { watched: false }, async (page, _, say) => {
          for (const frame of page.frames()) {
            const found = frame.getByText(text).filter({ visible: true });
            const count = await found.count().catch(() => 0);
            if (count === 0) continue;
            await found.first().scrollIntoViewIfNeeded({ timeout: 3_000 });
            say(`Scrolled to ${JSON.stringify(text)}${count > 1 ? `, the first of ${count} places` : ""}.`);
            return;
          }
          const message = `${JSON.stringify(text)} does not stand on the page as one text. Try a shorter part of it, or browser_snapshot{find}.`;
          throw new AppError("not_found", message);
        }),
    }),
  ];
}

type Scrolling = { readonly amount: number | undefined; readonly ref: string | undefined; readonly sign: 1 | -1 };

async function scroll(call: BrowserCall, { amount, ref, sign }: Scrolling): Promise<string> {
  const refs = ref === undefined ? [] : [ref];
  // A list that an act of this turn had loaded anew has nothing to scroll before it is there.
  await settle(call.browsing, call.looks, call.context.signal);
  return await perform(call, { refs, watched: false }, async (page, [element], say) => {
    const order = { amount, sign };
    const result =
      element === undefined
        ? await page.evaluate(scrollWindow, order)
        : await element.handle.evaluate(scrollElement, order);
    say(scrolled(result, sign));
  });
}

function scrolled({ moved, above, below }: ScrollResult, sign: 1 | -1): string {
  const rest = `${above} px are above and ${below} px below.`;
  if (moved === 0) return `Nothing scrolled: this is the ${sign === 1 ? "end" : "top"}. ${rest}`;
  return `Scrolled ${sign === 1 ? "down" : "up"} by ${Math.abs(moved)} px; ${rest}`;
}

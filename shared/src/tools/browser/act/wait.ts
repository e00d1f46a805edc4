import type { Page } from "playwright";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import { type BrowserCall, type BrowserDeps, browserTool } from "./browser-tool.ts";
import { perform } from "./perform.ts";

const maxSeconds = 60;
const patience = 15;

/** `browser_wait`: waits for a time, or until a text appears on the page or disappears from it. */
export function waitTool(deps: BrowserDeps): Tool {
  const text = z.string().trim().min(1).max(500).optional();
  return browserTool(deps, {
    name: "browser_wait",
    description: "Waits some seconds (default 3), or until a text appears or is gone.",
    input: z.strictObject({
      seconds: z.number().min(0).max(maxSeconds).optional(),
      text: text,
      gone: text,
    }),
    effect: "pure",
    async run({ seconds, text, gone }, call) {
      const waited = text ?? gone;
      if (waited === undefined) return await rest(call, seconds ?? 3);
      return await waitForText(call, { waited, appears: text !== undefined, seconds: seconds ?? patience });
    },
  });
}

function rest(call: BrowserCall, seconds: number): Promise<string> {
  return perform(call, { watched: false, timeoutMs: (seconds + 5) * 1000 }, async (page, _, say) => {
    await page.waitForTimeout(seconds * 1000);
    say(`Waited ${seconds} s.`);
  });
}

const pollMs = 200;

function waitForText(call: BrowserCall, order: { waited: string; appears: boolean; seconds: number }): Promise<string> {
  const { waited, appears, seconds } = order;
  return perform(call, { watched: false, timeoutMs: (seconds + 5) * 1000 }, async (page, _, say) => {
    const begun = performance.now();
    while ((await stands(page, waited)) !== appears) {
      if (performance.now() - begun > seconds * 1000) {
        const message = `${JSON.stringify(waited)} ${appears ? "did not appear" : "is still on the page"} after ${seconds} s. Look at the page.`;
        throw new AppError("timeout", message);
      }
      await page.waitForTimeout(pollMs);
    }
    say(
      `${JSON.stringify(waited)} ${appears ? "is on the page" : "is gone"} after ${((performance.now() - begun) / 1000).toFixed(1)} s.`,
    );
  });
}

async function stands(page: Page, text: string): Promise<boolean> {
  for (const frame of page.frames()) {
    const count = await frame
      .getByText(text)
      .filter({ visible: true })
      .count()
      .catch(() => 0);
    if (count > 0) return true;
  }
  return false;
}

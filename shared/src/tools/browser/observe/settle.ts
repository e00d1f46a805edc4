import type { Browsing } from "../../../machine/browser/browser.ts";
import { type QuietPage, waitForQuiet } from "../in-page/wait-for-quiet.ts";
import type { Looks } from "../looks.ts";

const quiet: QuietPage = { quietMs: 80, mostMs: 1_000 };
const loadMs = 5_000;

/** After something was done to a page: waits until it has loaded and stopped changing, some seconds at most. Never fails for a restless page. */
export async function settle(browsing: Browsing, looks: Looks, signal: AbortSignal): Promise<void> {
  if (!looks.restless || browsing.dialog() !== undefined) return;
  looks.restless = false;
  await browsing.act(
    async (page) => {
      await page.waitForLoadState("domcontentloaded", { timeout: loadMs }).catch(() => undefined);
      await page.evaluate(waitForQuiet, quiet).catch(() => undefined);
    },
    { signal, timeoutMs: 2 * loadMs },
  );
}

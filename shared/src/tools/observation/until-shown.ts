import type { Page } from "playwright";
import { signOfLoading } from "./in-page/settling/sign-of-loading.ts";
import { type QuietPage, waitForQuiet } from "./in-page/settling/wait-for-quiet.ts";

const pollMs = 120;
/** A list that timers draw grows by an entry at a time. */
const growing: QuietPage = { quietMs: 350, maxMs: 2_000 };

/**
 * Waits while a page shows that it is still loading, at most so long, and not for the sign of
 * `lasting`, which was waited for before; returns what still says so, or "". Fails for no page.
 */
export async function untilShown(
  page: Page,
  { signal, maxMs, lasting = "" }: { readonly signal: AbortSignal; readonly maxMs: number; readonly lasting?: string },
): Promise<string> {
  const look = () => page.evaluate(signOfLoading).catch(() => "");
  const until = performance.now() + maxMs;
  const first = await look();
  let sign = first;
  while (sign !== "" && sign !== lasting && performance.now() < until) {
    signal.throwIfAborted();
    await Bun.sleep(pollMs);
    sign = await look();
  }
  if (first !== "" && sign === "") await page.evaluate(waitForQuiet, growing).catch(() => undefined);
  return sign;
}

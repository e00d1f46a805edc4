import { join } from "node:path";
import { type Browser, chromium } from "playwright";
import { findChromium } from "../../machine/browser-process/find-chromium.ts";
import { needlessFeatures } from "../../machine/browser-process/launch-chromium.ts";

/**
 * What Playwright starts this machine's Chromium with, without what it keeps ready for people. A
 * window takes half the time then.
 */
export async function leanChromium() {
  const env = { ...process.env, CHROMIUM: await findChromium(undefined), NEEDLESS: needlessFeatures.join(",") };
  return { executablePath: join(import.meta.dir, "lean-chromium.sh"), env };
}

/** Starts a Chromium that pages of our own are tested in. */
export async function startChromium(...more: readonly string[]): Promise<Browser> {
  return await chromium.launch({ ...(await leanChromium()), args: ["--no-sandbox", ...more] });
}

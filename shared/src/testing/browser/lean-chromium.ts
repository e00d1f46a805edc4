import { join } from "node:path";
import { type Browser, chromium } from "playwright";
import { findChromium } from "../../machine/browser-process/find-chromium.ts";
import { needlessFeatures } from "../../machine/browser-process/launch-chromium.ts";

/**
 * A `whole` browser shows PDFs too, and takes three times as long. Where there is none, tests get
 * one that does not.
 */
type Needs = { readonly whole?: boolean };

/**
 * What Playwright starts this machine's Chromium with, without what it keeps ready for people. A
 * window takes half the time then.
 */
export async function leanChromium({ whole = false }: Needs = {}) {
  const program = await findChromium({ headless: !whole }).catch(() => findChromium({ headless: true }));
  const env = { ...process.env, CHROMIUM: program, NEEDLESS: needlessFeatures.join(",") };
  return { executablePath: join(import.meta.dir, "lean-chromium.sh"), env };
}

/**
 * With this it keeps no process ready for a page that may come: a sixth of what a page of its own
 * costs.
 */
const noSpareProcess = "--renderer-process-limit=1";

/** Starts a Chromium that pages of our own are tested in. */
export async function startChromium(more: readonly string[] = [], needs?: Needs): Promise<Browser> {
  return await chromium.launch({ ...(await leanChromium(needs)), args: ["--no-sandbox", noSpareProcess, ...more] });
}

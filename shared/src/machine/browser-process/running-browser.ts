import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright";
import { AppError } from "../../core/errors.ts";
import { findChromium } from "./find-chromium.ts";
import { launchChromium } from "./launch-chromium.ts";
import type { BrowserSettings } from "./settings.ts";

const connectMs = 30_000;

/** A browser that conversations can be given contexts of. */
export type RunningBrowser = {
  readonly browser: Browser;
  readonly kind: "chromium" | "cdp" | "playwright";
  readonly sandbox: string;
  /** Whether it shares this machine's loopback, and with it our proxy. */
  readonly here: boolean;
  /** A new folder for its files, which it can write when it was started here. */
  folder(name: string): Promise<string>;
  /** Gives up one that does not answer; it is disconnected then. */
  kill(): void;
  close(): Promise<void>;
};

/**
 * Starts the browser, or connects to the one that is configured. Rejects with `unavailable` or
 * `config_invalid`.
 */
export async function startBrowser(
  serverFolder: () => Promise<string>,
  proxyUrl: string,
  settings: BrowserSettings,
): Promise<RunningBrowser> {
  const { cdpUrl, wssUrl } = settings;
  if (cdpUrl !== undefined) return await remote("cdp", cdpUrl, serverFolder);
  if (wssUrl !== undefined) return await remote("playwright", wssUrl, serverFolder);
  const executable = await findChromium(settings.executable);
  const launched = await launchChromium(await serverFolder(), executable, proxyUrl, settings);
  return { ...launched, kind: "chromium", here: true };
}

async function remote(
  kind: "cdp" | "playwright",
  url: string,
  serverFolder: () => Promise<string>,
): Promise<RunningBrowser> {
  const browser = await connectRemote(kind, url);
  const folder = async (name: string) => {
    const path = join(await serverFolder(), name);
    await mkdir(path);
    return path;
  };
  const sandbox = "that of the browser connected to";
  const close = () => browser.close();
  return { browser, kind, sandbox, here: isHere(url), folder, kill: () => void close().catch(() => undefined), close };
}

/**
 * Connects to a browser that runs already. Rejects with `unavailable`; the address may hold a
 * secret and is not told in full.
 */
async function connectRemote(kind: "cdp" | "playwright", url: string): Promise<Browser> {
  const { chromium } = await import("playwright");
  try {
    if (kind === "cdp") return await chromium.connectOverCDP(url, { timeout: connectMs });
    return await chromium.connect(url, { timeout: connectMs });
  } catch (cause) {
    const host = URL.parse(url)?.host ?? "the configured address";
    throw new AppError("unavailable", `The browser at ${host} cannot be reached.`, { cause });
  }
}

/**
 * Whether an address is one of this machine, whose loopback the browser behind it shares with us.
 */
function isHere(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}

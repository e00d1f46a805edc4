import type { Browser } from "playwright";
import { connectRemote, isHere } from "./connect-remote.ts";
import { findChromium } from "./find-chromium.ts";
import { launchChromium } from "./launch-chromium.ts";
import type { BrowserSettings } from "./settings.ts";

/** A browser that conversations can be given contexts of. */
export type RunningBrowser = {
  readonly browser: Browser;
  readonly kind: "chromium" | "cdp" | "playwright";
  readonly sandbox: string;
  /** Whether its contexts can use a proxy on this machine's loopback. */
  readonly here: boolean;
  /** A new folder that it can write; undefined where its files are not ours to see. */
  readonly folder: ((name: string) => Promise<string>) | undefined;
  close(): Promise<void>;
};

/** Starts the browser, or connects to the one that is configured. Rejects with `unavailable` or `config_invalid`. */
export async function startBrowser(
  serverFolder: () => Promise<string>,
  proxyUrl: string,
  settings: BrowserSettings,
): Promise<RunningBrowser> {
  const { cdpUrl, wssUrl } = settings;
  if (cdpUrl !== undefined) return remote("cdp", cdpUrl);
  if (wssUrl !== undefined) return remote("playwright", wssUrl);
  const executable = await findChromium(settings.executable);
  const launched = await launchChromium(await serverFolder(), executable, proxyUrl, settings);
  return { ...launched, kind: "chromium", here: true };
}

async function remote(kind: "cdp" | "playwright", url: string): Promise<RunningBrowser> {
  const browser = await connectRemote(kind, url);
  return {
    browser,
    kind,
    sandbox: "that of the browser connected to",
    here: isHere(url),
    folder: undefined,
    close: () => browser.close(),
  };
}

import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { BrowserHost } from "../../machine/browser/browser.ts";
import { createBrowsers } from "../../machine/browser/create-browsers.ts";
import { type BrowserSettings, browserDefaults } from "../../machine/browser-process/settings.ts";
import { browserMissing } from "./find-browser.ts";

/** A server's browser, or a sentence that says why there is none. */
export type OpenedBrowser =
  | { readonly browsers: BrowserHost; readonly missing: undefined }
  | { readonly browsers: undefined; readonly missing: string };

type BrowserConfig = Pick<Config, "home" | "browser" | "egress">;
/** What a browser is given beside its settings. */
export type BrowserParts = Pick<BrowserSettings, "secretIn" | "profile" | "loopback" | "isAtWork">;

/**
 * The browser as configured, not yet started. Rejects with `config_invalid` if the configured
 * program is missing.
 */
export async function openBrowser(config: BrowserConfig, parts: BrowserParts = {}): Promise<OpenedBrowser> {
  const missing = await browserMissing(config);
  if (missing !== undefined) return { browsers: undefined, missing };
  return { browsers: createBrowsers({ ...browserSettings(config), ...parts }), missing };
}

function browserSettings({ home, browser, egress }: BrowserConfig): BrowserSettings {
  const { proxy, ...policy } = egress;
  const { server, username, password } = browser.proxy;
  const own = server === undefined ? undefined : { server, username, password };
  return {
    ...browserDefaults,
    folder: join(home, "browser"),
    policy,
    upstream: own ?? (proxy === undefined ? undefined : { server: proxy }),
    headless: browser.headless,
    disableSecurity: browser.disable_security,
    extraArgs: browser.extra_chromium_args,
    executable: browser.chrome_instance_path,
    cdpUrl: browser.cdp_url,
    wssUrl: browser.wss_url,
    ownContext: browser.context === "own",
    userDataDir: browser.user_data_dir,
    viewport: { width: browser.window_width, height: browser.window_height },
    locale: browser.locale,
    timezone: browser.timezone,
    geolocation: placeOf(browser.geolocation),
    patienceMs: browser.patience_seconds * 1000,
    idleMs: browser.idle_seconds * 1000,
    contexts: browser.max_contexts,
    tabs: browser.max_tabs,
    downloadBytes: browser.max_download_bytes,
  };
}

function placeOf({ latitude, longitude, accuracy }: Config["browser"]["geolocation"]): BrowserSettings["geolocation"] {
  return latitude === undefined || longitude === undefined ? undefined : { latitude, longitude, accuracy };
}

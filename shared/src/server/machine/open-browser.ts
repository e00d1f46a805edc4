import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../core/errors.ts";
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
    ownContext: usesOwnContext(browser),
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

/** Rejects settings that contradict each other, rather than choose a context nobody meant. */
function usesOwnContext({ context, cdp_url, wss_url, user_data_dir, profile }: Config["browser"]): boolean {
  const refuse = (why: string) => new AppError("config_invalid", why);
  if (context === "fresh") {
    if (user_data_dir === undefined) return false;
    throw refuse('browser.user_data_dir is only used with browser.context = "own".');
  }
  if (wss_url !== undefined && cdp_url === undefined)
    throw refuse('browser.context = "own" needs browser.cdp_url: a Playwright server has no context of its own.');
  if ((cdp_url === undefined) === (user_data_dir === undefined))
    throw refuse('browser.context = "own" needs one of browser.cdp_url and browser.user_data_dir.');
  if (profile === undefined) return true;
  throw refuse('browser.profile is for fresh contexts: with browser.context = "own" the browser keeps its log-ins.');
}

function placeOf({ latitude, longitude, accuracy }: Config["browser"]["geolocation"]): BrowserSettings["geolocation"] {
  if (latitude === undefined && longitude === undefined) return undefined;
  if (latitude === undefined || longitude === undefined)
    throw new AppError("config_invalid", "browser.geolocation needs latitude and longitude.");
  return { latitude, longitude, accuracy };
}

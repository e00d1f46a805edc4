import type { Sections } from "./sections/sections.ts";
import type { Settings } from "./settings/settings.ts";
import { faultAt } from "./settings/settings-error.ts";

/**
 * `[browser]`. Throws `config_invalid` for keys that contradict each other, rather than choose a
 * context or a place that nobody meant.
 */
export function browserConfig(settings: Settings): Sections["browser"] {
  const { browser } = settings.sections;
  const { context, cdp_url, wss_url, user_data_dir, profile, geolocation } = browser;
  const refuse = (key: string, why: string) => faultAt(settings, ["browser", key], why);
  if ((geolocation.latitude === undefined) !== (geolocation.longitude === undefined))
    throw refuse("geolocation", "browser.geolocation needs latitude and longitude.");
  if (context === "fresh") {
    if (user_data_dir === undefined) return browser;
    throw refuse("user_data_dir", 'browser.user_data_dir is only used with browser.context = "own".');
  }
  if (wss_url !== undefined && cdp_url === undefined)
    throw refuse(
      "context",
      'browser.context = "own" needs browser.cdp_url: a Playwright server has no context of its own.',
    );
  if ((cdp_url === undefined) === (user_data_dir === undefined))
    throw refuse("context", 'browser.context = "own" needs one of browser.cdp_url and browser.user_data_dir.');
  if (profile === undefined) return browser;
  throw refuse(
    "profile",
    'browser.profile is for fresh contexts: with browser.context = "own" the browser keeps its log-ins.',
  );
}

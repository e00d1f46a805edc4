import type { BrowserContextOptions } from "playwright";
import type { BrowserSettings } from "./settings.ts";

/** What pages see of the browser, and what the operator lets them do, as the settings say. */
export function appearance(settings: BrowserSettings): BrowserContextOptions {
  const { viewport, locale, timezone, geolocation, disableSecurity } = settings;
  return {
    viewport,
    locale,
    ...(timezone !== undefined && { timezoneId: timezone }),
    ...(geolocation && { geolocation }),
    serviceWorkers: "block",
    ignoreHTTPSErrors: disableSecurity,
    bypassCSP: disableSecurity,
  };
}

/** A headless browser says so in its user agent, and some sites turn it away. */
export function userAgentOf(version: string): string {
  const major = version.split(".")[0];
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
}

import type { BrowserSettings } from "./settings.ts";

/** Nothing goes past the proxy: no name is resolved here, no UDP is sent, and the browser does not speak for itself. */
const quiet = [
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  // Older browsers know the policy by the second name; one passes over the name that it does not know.
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--dns-prefetch-disable",
  "--no-pings",
  "--disable-domain-reliability",
  "--disable-sync",
];

const insecure = ["--disable-web-security", "--disable-site-isolation-trials"];

/** The arguments that Chromium is started with beside Playwright's own. */
export function chromiumArgs({ disableSecurity, extraArgs, viewport }: BrowserSettings): string[] {
  const { width, height } = viewport;
  return [...quiet, `--window-size=${width},${height}`, ...(disableSecurity ? insecure : []), ...extraArgs];
}

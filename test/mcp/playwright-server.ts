import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { findChromium } from "../../shared/src/machine/browser-process/find-chromium.ts";
import { installed } from "./host-for-test.ts";

/** A page with a button that changes its title. */
export const shop = "data:text/html,<title>Shop</title><button onclick=\"document.title='Bought'\">Buy</button>";

/** The entry of @playwright/mcp with this machine's Chromium. */
export async function playwrightServer() {
  const entry = installed("@playwright/mcp/package.json");
  const cli = join(dirname(Bun.resolveSync("@playwright/mcp/package.json", import.meta.dir)), "cli.js");
  const program = await findChromium({ headless: true });
  const options = ["--headless", "--isolated", "--no-sandbox", "--executable-path", program];
  // Where a distribution's start script reads its flags, and the folder of a browser that we
  // installed.
  const own = ["/etc/chromium.d", "/etc/chromium", dirname(program)].filter((path) => existsSync(path));
  return { command: entry.command, args: [cli, ...options], read: [...entry.read, ...own] };
}

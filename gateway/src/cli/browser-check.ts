import type { Config } from "manyhands/internal/config/config";
import { AppError } from "manyhands/internal/core/errors";
import { openBrowser } from "manyhands/internal/server/open-browser";
import type { Check } from "./check.ts";

const page = "<!doctype html><title>before</title><script>document.title = 'after'</script>";

/**
 * Whether a page really opens: one of this process, whose script has to run, by way of the proxy that a conversation's pages go through. A browser
 * elsewhere does not see this machine and is asked for an empty page.
 */
export async function checkBrowser({ home, browser }: Config): Promise<Check> {
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(page, { headers: { "content-type": "text/html" } }),
  });
  const allow = [`127.0.0.1:${site.port}`];
  const elsewhere = browser.cdp_url !== undefined || browser.wss_url !== undefined;
  try {
    // The operator's own proxy would not find this machine either.
    const near = { home, browser: { ...browser, proxy: {} }, egress: { allow, deny: [], only: [], proxy: undefined } };
    const { browsers, missing } = await openBrowser(near);
    if (browsers === undefined) return { name: "browser", state: "warn", text: missing };
    try {
      const options = { signal: AbortSignal.timeout(60_000), timeoutMs: 20_000 };
      const { html } = await browsers.render(elsewhere ? "about:blank" : `http://127.0.0.1:${site.port}/`, options);
      const { kind, version, sandbox, egress } = browsers.describe();
      if (!elsewhere && !html.includes("<title>after</title>"))
        return { name: "browser", state: "fail", text: "It opens a page but runs no scripts." };
      return { name: "browser", state: "ok", text: `${kind} ${version}, sandbox: ${sandbox}, policy: ${egress}` };
    } finally {
      await browsers.close();
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { name: "browser", state: "fail", text: error.message };
  } finally {
    await site.stop(true);
  }
}

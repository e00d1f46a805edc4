import robotsParser from "robots-parser";
import { AppError } from "../../core/errors.ts";
import type { Egress } from "../../machine/egress/egress.ts";

/** This system's name in robots.txt files. */
const robotName = "Manyhands";

/** The `User-Agent` of every request for a page or to a search engine. */
export const userAgent = `Mozilla/5.0 (compatible; ${robotName}/0.1)`;

/** The rules of sites for robots, cached for a while. */
export interface Robots {
  /**
   * Rejects with `forbidden` when the site's robots.txt disallows the URL for this system, and as
   * `Egress.fetch` does when robots.txt cannot be requested.
   */
  admit(url: URL, signal: AbortSignal): Promise<void>;
}

type Rules = { readonly until: number; readonly allows: (url: string) => boolean };

const keptMs = 3_600_000;
const keptSites = 500;

/** As RFC 9309 specifies: no file (4xx) allows all, a server that fails (5xx) allows nothing. */
export function createRobots(egress: Egress): Robots {
  const sites = new Map<string, Rules>();
  return {
    async admit(url, signal) {
      if (url.pathname === "/robots.txt") return;
      let rules = sites.get(url.origin);
      if (rules === undefined || rules.until < performance.now()) {
        rules = await askFor(url.origin, egress, signal);
        sites.delete(url.origin);
        sites.set(url.origin, rules);
        for (const oldest of sites.keys()) if (sites.size > keptSites) sites.delete(oldest);
      }
      if (!rules.allows(url.href))
        throw new AppError("forbidden", `The robots.txt of ${url.host} does not let ${robotName} read this address.`);
    },
  };
}

async function askFor(origin: string, egress: Egress, signal: AbortSignal): Promise<Rules> {
  const url = `${origin}/robots.txt`;
  const answer = await egress.fetch({
    url,
    headers: { "user-agent": userAgent, accept: "text/plain" },
    signal,
    timeoutMs: 8_000,
    maxBytes: 1_000_000,
  });
  // A failing server is asked again soon.
  if (answer.status >= 500) return { until: performance.now() + 60_000, allows: () => false };
  const text = answer.status < 300 ? new TextDecoder().decode(answer.body) : "";
  const robot = robotsParser(url, text);
  return { until: performance.now() + keptMs, allows: (address) => robot.isAllowed(address, robotName) ?? true };
}

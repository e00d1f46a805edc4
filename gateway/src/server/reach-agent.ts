import type { Peers } from "manyhands/internal/a2a/ask/peers";
import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";
import type { Registry } from "../registry/registry.ts";
import type { ReachAgent } from "../rest/runs/live-routes.ts";

/**
 * Reaches the servers of this system's agents, wherever they run. No other is reached: what a
 * person types is for pages of our own browsers.
 */
export function reachAgent(
  peers: Pick<Peers, "actingFor" | "at">,
  registry: Pick<Registry, "get" | "isOwn">,
): ReachAgent {
  return ({ name, url: askedAt = registry.get(name)?.url }, principal) => {
    if (askedAt === undefined) return undefined;
    const { url } = peers.at({ name, url: askedAt });
    if (!registry.isOwn(url)) return undefined;
    return { url: withoutLastSlashes(url), fetch: peers.actingFor(principal).fetch({ name, url }) };
  };
}

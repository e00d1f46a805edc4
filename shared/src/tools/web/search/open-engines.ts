import { createEgress, type Egress } from "../../../machine/egress/egress.ts";
import type { EgressPolicy } from "../../../machine/egress/policy.ts";
import { type EngineName, engineNames, type SearchEngine } from "./engine.ts";
import { htmlEngine } from "./html-engines.ts";
import { brave, exa, googleCse, searxng, serper, tavily } from "./json-engines.ts";

type Access = { readonly api_key?: string | undefined; readonly url?: string | undefined };
type OpenedPage = { readonly url?: string | undefined };

/**
 * How to reach the engines: those with a key only when it is given here, SearXNG only with its
 * address.
 */
export type EngineSettings = {
  readonly engine?: EngineName | undefined;
  readonly fallback_engines: readonly EngineName[];
  readonly searxng: OpenedPage;
  readonly brave: Access;
  readonly tavily: Access;
  readonly exa: Access;
  readonly serper: Access;
  readonly google_cse: Access & { readonly cx?: string | undefined };
  readonly duckduckgo: OpenedPage;
  readonly bing: OpenedPage;
  readonly baidu: OpenedPage;
  readonly google: OpenedPage;
};

/** How requests leave: the policy, and a proxy if there is one. */
export type EgressSettings = EgressPolicy & { readonly proxy?: string | undefined };

/**
 * The available engines, in order: the configured one, its fallbacks, then the rest. An address
 * that is configured for an engine is allowed wherever it is, for that engine alone.
 */
export function openEngines(settings: EngineSettings, egress: EgressSettings): readonly SearchEngine[] {
  const order = new Set([settings.engine ?? [], settings.fallback_engines, engineNames].flat());
  return [...order].flatMap((name) => {
    const engine = openEngine(name, settings, egressFor(settings[name].url, egress));
    return engine === undefined ? [] : [engine];
  });
}

function openEngine(name: EngineName, settings: EngineSettings, egress: Egress): SearchEngine | undefined {
  if (name === "searxng") {
    const { url } = settings.searxng;
    return url === undefined ? undefined : searxng({ egress, url });
  }
  if (name === "google_cse") {
    const { api_key: key, cx, url } = settings.google_cse;
    return key === undefined || cx === undefined ? undefined : googleCse({ egress, key, cx, url });
  }
  if (name === "brave" || name === "tavily" || name === "exa" || name === "serper") {
    const { api_key: key, url } = settings[name];
    return key === undefined ? undefined : { brave, tavily, exa, serper }[name]({ egress, key, url });
  }
  return htmlEngine(name, { egress, url: settings[name].url });
}

function egressFor(url: string | undefined, { proxy, ...policy }: EgressSettings): Egress {
  const host = url === undefined ? [] : [new URL(url).host];
  return createEgress({ ...policy, allow: [...policy.allow, ...host] }, { proxy });
}

import { createPeers, type PeerAddress, type Peers } from "manyhands/internal/a2a/ask/peers";
import { authorizedFetch } from "manyhands/internal/a2a/client/credentials";
import type { InsideAddress } from "manyhands/internal/a2a/client/server-address";
import { ownCredentials } from "manyhands/internal/config/agents/credentials";
import type { Config } from "manyhands/internal/config/config";
import type { Engine } from "manyhands/internal/core/runs/engine";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import type { ArtifactStore } from "manyhands/internal/core/workspace";
import { openKeySets } from "manyhands/internal/server/protocols/open-card-policy";
import { flowAddress } from "../flows/agents-of-registry.ts";
import type { FlowList } from "../flows/flow-list.ts";
import type { Registry } from "../registry/registry.ts";
import { adapterUrl } from "./adapter-url.ts";
import { openPushCallbacks } from "./push-callback-app.ts";

const connectMs = 30_000;

type Parts = {
  readonly config: Config;
  readonly flows: Pick<FlowList, "get">;
  readonly engine: Engine;
  readonly artifacts: ArtifactStore;
  readonly registry: Registry;
  readonly inside: InsideAddress;
  /** The gateway's address from here, and from outside. */
  readonly url: string;
  readonly publicUrl: string;
  /** What notifications to the gateway are known by. */
  readonly pushCallbackKey: KeptText;
};

/**
 * What the gateway asks agents and its own flows with, and where they notify it. The registry
 * decides which agents may be asked and checks their cards; our own flows don't need it.
 */
export async function openGatewayPeers({ config, flows, registry, url, publicUrl, ...parts }: Parts): Promise<Peers> {
  const { server } = config;
  const own = authorizedFetch(fetch, ownCredentials(server), url);
  const isFlow = (address: string) => [url, publicUrl].some((base) => address.startsWith(flowAddress(base)));
  const outside = publicUrl === url ? server.publicUrl : publicUrl;
  return createPeers({
    ...parts,
    pushCallbacks: await openPushCallbacks(parts.pushCallbackKey, outside, openKeySets(config, parts.inside)),
    fetch: (address) => (isFlow(address.url) ? own : registry.fetch(address.url)),
    isOwn: (address) => isFlow(address.url) || registry.isOwn(address.url),
    connect: (address, signal) =>
      isFlow(address.url) ? undefined : registry.connect(address, signal ?? AbortSignal.timeout(connectMs)),
    known(name) {
      return flows.get(name) === undefined ? configured(registry, name) : { name, url: adapterUrl(url, name) };
    },
    retrySignal: (address) => (isFlow(address.url) ? undefined : registry.retrySignal(address)),
    bounds: { patienceMs: config.gateway.patienceMs },
  });
}

/**
 * The address of an agent of the settings; undefined for a registered agent, which stays at the
 * address a run already has for it.
 */
function configured(registry: Registry, name: string): PeerAddress | undefined {
  const agent = registry.get(name);
  return agent?.source === "configured" ? agent : undefined;
}

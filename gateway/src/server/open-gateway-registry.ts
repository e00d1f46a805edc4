import type { InsideAddress } from "manyhands/internal/a2a/client/server-address";
import type { HomeKeys } from "manyhands/internal/a2a/signing/home-keys";
import type { Config } from "manyhands/internal/config/config";
import type { KeptText } from "manyhands/internal/core/text/kept-text";
import { openCardPolicy, openKeySets } from "manyhands/internal/server/protocols/open-card-policy";
import type { FlowList } from "../flows/flow-list.ts";
import { openRegistry, type Registry } from "../registry/registry.ts";
import { registryFile } from "../registry/registry-file.ts";

/** The registry of this system's agents and the registered ones. */
export async function openGatewayRegistry(
  config: Config,
  flows: Pick<FlowList, "names">,
  {
    kept,
    keys,
    inside,
    report,
  }: {
    readonly kept: KeptText;
    readonly keys: HomeKeys;
    readonly inside: InsideAddress;
    readonly report: (bug: unknown) => void;
  },
): Promise<Registry> {
  const { agents, gateway } = config;
  return openRegistry({
    configured: Object.entries(agents).map(([name, { url, credentials, isOwn }]) => ({
      name,
      url,
      credentials,
      isOwn,
    })),
    file: registryFile(kept),
    policy: await openCardPolicy(config, keys, openKeySets(config, inside)),
    inside,
    everyMs: gateway.checkMs,
    reserved: flows.names,
    report,
  });
}

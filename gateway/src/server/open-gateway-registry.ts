import { join } from "node:path";
import type { InsideAddress } from "manyhands/internal/a2a/client/server-address";
import { openCardKey } from "manyhands/internal/a2a/server/card-key";
import type { Config } from "manyhands/internal/config/config";
import type { FlowDefinition } from "manyhands/internal/core/flow";
import { anyCard, readCardKeys, signedCards } from "../registry/card-policy.ts";
import { openRegistry, type Registry } from "../registry/registry.ts";
import { registryFile } from "../registry/registry-file.ts";

/**
 * The key with which agents of this home sign their cards; it is always trusted.
 */
const ownKey = async (home: string) => (await openCardKey(home)).publicKey;

/** The registry of this system's agents and the registered ones. */
export async function openGatewayRegistry(
  { agents, gateway, home }: Config,
  flows: readonly FlowDefinition[],
  inside: InsideAddress,
  report: (bug: unknown) => void,
): Promise<Registry> {
  const { cardKeys, checkMs } = gateway;
  return openRegistry({
    configured: Object.entries(agents).map(([name, { url, token, isOwn }]) => ({ name, url, token, isOwn })),
    file: registryFile(join(home, "agents.json")),
    policy: cardKeys === undefined ? anyCard : signedCards([...(await readCardKeys(cardKeys)), await ownKey(home)]),
    inside,
    everyMs: checkMs,
    reserved: flows.map(({ name }) => name),
    report,
  });
}

import type { Config } from "manyhands/internal/config/config";
import { openShared } from "manyhands/internal/server/storage/open-shared";
import { type KeptAgent, registryFile } from "./registry-file.ts";

/**
 * The agents that were registered with the gateways of this system, for processes that are not one
 * of them.
 */
export async function registeredAgents(config: Pick<Config, "home" | "engine">): Promise<readonly KeptAgent[]> {
  const shared = await openShared(config);
  try {
    return await registryFile(shared.agents).read();
  } finally {
    await shared.close();
  }
}

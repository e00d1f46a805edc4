import type { Config } from "manyhands/internal/config/config";
import { hasMemory } from "manyhands/internal/config/storage/memory-config";
import { lazily } from "manyhands/internal/core/async/lazy";
import { openMemoryStore } from "manyhands/internal/server/storage/open-memory";
import type { Shared } from "manyhands/internal/server/storage/open-shared";
import type { MemoryRoutesDeps } from "../rest/memory/memory-routes.ts";

/** What is remembered, for the gateway's routes: opened when somebody first asks for it. */
export function openGatewayMemory(
  config: Config,
  shared: Pick<Shared, "memory">,
): MemoryRoutesDeps & { close(): Promise<void> } {
  const store = lazily(async () => openMemoryStore(config, shared));
  return {
    open: store.get,
    isOn: (principal) => hasMemory(config.memory, principal),
    close: async () => (await store.made())?.close(),
  };
}

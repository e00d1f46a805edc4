import type { Config } from "../../config/config.ts";
import { hasMemory } from "../../config/storage/memory-config.ts";
import type { MoreTools } from "../../core/agent.ts";
import type { Recall } from "../../core/memory.ts";
import { createMemoryStore, type MemoryStore } from "../../memory/memory-store.ts";
import { createRecall } from "../../memory/recall.ts";
import { withMemory } from "../../memory/with-memory.ts";
import { createEmbedder } from "../../models/embeddings.ts";
import type { Shared } from "./open-shared.ts";

/** What is remembered in this system. The caller closes it. */
export function openMemoryStore({ memory }: Pick<Config, "memory">, shared: Pick<Shared, "memory">): MemoryStore {
  return createMemoryStore(shared.memory(), memory);
}

/** An agent's use of the memory. */
export type OpenedMemory = {
  readonly recall?: Recall;
  /** The tools with `memory` among them, for principals that have one. */
  over(more: MoreTools): MoreTools;
  close(): Promise<void>;
};

/** The memory as an agent uses it; where the settings give nobody one, nothing is opened. */
export function openMemory(config: Pick<Config, "memory">, shared: Pick<Shared, "memory">): OpenedMemory {
  const { principals, recall: bounds, embeddings } = config.memory;
  if (principals.length === 0) return { over: (more) => more, close: async () => undefined };
  const store = openMemoryStore(config, shared);
  const isOn = (principal: string) => hasMemory(config.memory, principal);
  const embedder = embeddings && createEmbedder(embeddings);
  return {
    recall: createRecall({ store, bounds, isOn, embedder }),
    over: (more) => withMemory(more, store, isOn),
    close: () => store.close(),
  };
}

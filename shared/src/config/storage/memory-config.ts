import type { ModelConfig } from "../../models/config.ts";
import { modelFor } from "../llm/models.ts";
import type { Sections } from "../sections/sections.ts";

/** What `[memory]` says. */
export type MemoryConfig = {
  /** The principals that have a memory; `*` stands for all. */
  readonly principals: readonly string[];
  /** How much each may have. */
  readonly entries: number;
  readonly entryCharacters: number;
  /** How much a task is shown when it begins. */
  readonly recall: { readonly entries: number; readonly tokens: number; readonly similarity: number };
  /** Finds entries by their meaning; by their words alone if undefined. */
  readonly embeddings: ModelConfig | undefined;
};

/** What `[memory]` says; nobody has a memory unless it names them. */
export function memoryConfig({ memory, llm }: Pick<Sections, "memory" | "llm">): MemoryConfig {
  const { principals, entries, entry_characters, recall_entries, recall_tokens, embeddings, similarity } = memory;
  return {
    principals,
    entries,
    entryCharacters: entry_characters,
    recall: { entries: recall_entries, tokens: recall_tokens, similarity },
    embeddings: embeddings === undefined ? undefined : modelFor(embeddings, llm),
  };
}

/** Whether this principal has a memory. */
export function hasMemory({ principals }: Pick<MemoryConfig, "principals">, principal: string): boolean {
  return principals.includes("*") || principals.includes(principal);
}

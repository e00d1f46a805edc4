import type { StoredEvent } from "../../core/runs/engine.ts";
import type { Writer } from "./writer.ts";

/** `Engine.search`, one run after the other. */
export async function search(
  writer: Writer,
  runIds: readonly string[],
  words: readonly string[],
): Promise<Map<string, StoredEvent>> {
  const found = new Map<string, StoredEvent>();
  for (const id of runIds) {
    const event = await writer.read((tables) => tables.search.first(id, words));
    if (event !== undefined) found.set(id, event);
    // Reading runs keeps this thread busy; others are served between two of them.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return found;
}

import { filesOf } from "../../core/events/event-files.ts";
import { readEvent } from "../../core/events/read-event.ts";
import type { RunEvent } from "../../core/runs/run.ts";
import { countEvent, noCount, usageOf } from "../../core/usage.ts";

/** Events as the schema's functions take them: with the files and the usage that they tell of. */
export type ToldEvents = {
  readonly events: readonly string[];
  readonly files?: readonly { readonly sha256: string; readonly size: number }[];
  readonly used?: readonly Used[];
};

/**
 * Usage; `agent` and `ask` if another run reported it, which counts itself if it is in this store.
 */
type Used = { readonly tokens: number; readonly usd: number; readonly agent?: string; readonly ask?: string };

/** The events, undefined if there are none. */
export function toldEvents(events: readonly RunEvent[] = []): ToldEvents | undefined {
  if (events.length === 0) return undefined;
  const files = events.flatMap((event) => filesOf(event).map(({ sha256, size }) => ({ sha256, size })));
  const used = events.flatMap(usedIn);
  return {
    events: events.map((event) => JSON.stringify(event)),
    ...(files.length > 0 && { files }),
    ...(used.length > 0 && { used }),
  };
}

function usedIn(event: RunEvent): readonly Used[] {
  if (event.usage === undefined && event.discarded === undefined) return [];
  const read = readEvent(event);
  const { tokens, usd } = usageOf(countEvent(noCount, read));
  if (tokens === 0 && usd === 0) return [];
  return [{ tokens, usd, ...(read.type === "agent-answered" && { agent: read.agent, ask: read.askId }) }];
}

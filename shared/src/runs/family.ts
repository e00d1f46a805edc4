import { filesOf } from "../core/events/event-files.ts";
import { readEvent } from "../core/events/read-event.ts";
import type { Engine, RunRecord, StoredEvent } from "../core/runs/engine.ts";

/**
 * An agent that was asked: its name, and the address it was asked at; undefined: where it is now.
 */
export type AskedAgent = { readonly name: string; readonly url: string | undefined };

/** Runs with those that they asked for, and that those asked for, as far as in this store. */
export type Families = {
  /** The run and the others, each after the one that asked. */
  of(run: RunRecord): Promise<RunRecord[]>;
  /** The agent that one of them asked for a task; undefined if none did. */
  asked(run: RunRecord, taskId: string): Promise<AskedAgent | undefined>;
  /** Whether an event of one of them refers to a file with this content. */
  hasFile(run: RunRecord, sha256: string): Promise<boolean>;
};

/** Runs of a family at most. */
const maxRuns = 500;

/** What the events of a run up to `seq` say of others. */
type Relations = {
  seq: number;
  /** The agents that it asked, by ask, and by the task that they accepted it as. */
  readonly asks: Map<string, AskedAgent>;
  readonly accepted: Map<string, AskedAgent>;
  readonly files: Set<string>;
  /** The tasks that are not in this store. */
  readonly elsewhere: Set<string>;
  /** Its record, once it is over, which never changes. */
  over?: RunRecord;
};

/**
 * Families of runs. What the events of a run say of others is cached, so that asking again reads
 * only what is newer; the least recently used of `capacity` runs is evicted first.
 */
export function createFamilies(engine: Pick<Engine, "get" | "events">, capacity = 2 * maxRuns): Families {
  const cached = new Map<string, Relations>();

  async function relationsOf(run: RunRecord): Promise<Relations> {
    const known = cached.get(run.id) ?? noRelations();
    cached.delete(run.id);
    cached.set(run.id, known);
    const oldest = cached.keys().next().value;
    if (cached.size > capacity && oldest !== undefined) cached.delete(oldest);
    if (known.seq >= run.lastEvent) return known;
    // Adding what another reader adds meanwhile changes nothing.
    for (const stored of await engine.events(run.id, known.seq, run.lastEvent)) add(known, stored, run);
    if (run.lastEvent > known.seq) known.seq = run.lastEvent;
    return known;
  }

  /** Those that are over come from the cache, also if they were deleted since, unless `fresh`. */
  async function* members(root: RunRecord, fresh: boolean) {
    const found = new Map([[root.id, root]]);
    for (const run of found.values()) {
      const relations = await relationsOf(run);
      yield { run, relations };
      for (const id of relations.accepted.keys()) {
        if (found.has(id) || found.size === maxRuns || (!fresh && relations.elsewhere.has(id))) continue;
        const over = fresh ? undefined : cached.get(id)?.over;
        const asked = over?.principal === root.principal ? over : await engine.get(id, root.principal);
        if (asked === undefined) relations.elsewhere.add(id);
        else found.set(id, asked);
      }
    }
  }

  return {
    async of(root) {
      return (await Array.fromAsync(members(root, true))).map(({ run }) => run);
    },
    async asked(root, taskId) {
      for await (const { relations } of members(root, false)) {
        const agent = relations.accepted.get(taskId);
        if (agent !== undefined) return agent;
      }
      return undefined;
    },
    async hasFile(root, sha256) {
      for await (const { run, relations } of members(root, false))
        if (relations.files.has(sha256) && (await engine.get(run.id, root.principal)) !== undefined) return true;
      return false;
    },
  };
}

function noRelations(): Relations {
  return { seq: 0, asks: new Map(), accepted: new Map(), files: new Set(), elsewhere: new Set() };
}

function add(known: Relations, { event: stored }: StoredEvent, run: RunRecord): void {
  for (const { sha256 } of filesOf(stored)) known.files.add(sha256);
  const event = readEvent(stored);
  if (event.type === "agent-asked") known.asks.set(event.askId, { name: event.agent, url: event.url });
  if (event.type === "agent-accepted")
    known.accepted.set(event.taskId, { name: event.agent, url: known.asks.get(event.askId)?.url });
  if (event.type === "run-ended") known.over = run;
}

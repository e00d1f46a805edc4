import { readEvent } from "../core/events/read-event.ts";
import type { Engine, FollowItem, RunRecord, StoredEvent } from "../core/runs/engine.ts";
import { createRelayedOutput } from "./relayed-output.ts";

/** An agent that a run asked: the ask, and the task that it accepted. */
export type AcceptedAsk = {
  /** The run that asked. */
  readonly runId: string;
  readonly askId: string;
  readonly agent: string;
  readonly url: string;
  readonly taskId: string;
};

/**
 * What a follower of a run and of those it asked for gets. `asked` comes before the event that
 * says so: `run` is its record if it is in this store; `followed` is false if
 * nothing more of it comes.
 */
export type FamilyItem =
  | (FollowItem & { readonly runId: string })
  | { readonly kind: "asked"; readonly ask: AcceptedAsk; readonly run?: RunRecord; readonly followed: boolean };

/** What following a family needs. */
export type FamilyDeps = {
  readonly engine: Pick<Engine, "get" | "events" | "follow">;
  /**
   * The events of a task at an agent that keeps its runs elsewhere, after the one with this number;
   * none if left out.
   */
  readonly elsewhere?: (
    ask: AcceptedAsk,
    options: { readonly principal: string; readonly after: number; readonly signal: AbortSignal },
  ) => AsyncIterable<FollowItem>;
};

/** Where to begin and when to stop. */
export type FamilyPlace = {
  /** The last event the reader has, by run. */
  readonly after: ReadonlyMap<string, number>;
  readonly signal: AbortSignal;
};

/** Runs followed at once at most. */
const maxFollowed = 200;

/**
 * The events of a run and of every run that it asked for, wherever those run: of each run in order,
 * without gap or repetition. Ends when all of them have ended.
 */
export async function* followFamily(
  deps: FamilyDeps,
  root: RunRecord,
  { after, signal }: FamilyPlace,
): AsyncGenerator<readonly FamilyItem[], void, undefined> {
  const { engine } = deps;
  const sources = createSources(root.id);
  const relayed = createRelayedOutput();
  const asked = createAsked(deps, { sources, relayed }, root.principal, { after, signal });
  sources.follow(root.id, engine.follow(root.id, { after: after.get(root.id) ?? 0, signal }).pages());
  // What was accepted before the reader's place is found again in the events before it. Places of
  // runs that this one never asked for say nothing: they would lead out of the family.
  const left = new Map(after);
  for (let found = root.id; ; ) {
    const seq = left.get(found) ?? 0;
    left.delete(found);
    const run = found === root.id ? root : await engine.get(found, root.principal);
    for (const item of run === undefined ? [] : await engine.events(found, 0, seq)) await asked(item);
    const next = [...left.keys()].find((id) => sources.has(id));
    if (next === undefined) break;
    found = next;
  }
  try {
    for (let next = await sources.next(); next !== undefined; next = await sources.next()) {
      const items: FamilyItem[] = [];
      for (const item of next.page) {
        const ofRun = { ...item, runId: next.id };
        if (ofRun.kind === "event") {
          const found = await asked(ofRun);
          if (found !== undefined) items.push(found);
          items.push(...relayed.before(ofRun), ofRun);
        } else if (!relayed.takes(ofRun)) items.push(ofRun);
      }
      items.push(...relayed.now());
      if (items.length > 0) yield items;
    }
  } finally {
    sources.close();
  }
}

type Sources = ReturnType<typeof createSources>;
type Relayed = ReturnType<typeof createRelayedOutput>;
type Pages = AsyncIterator<readonly FollowItem[]>;

type Arrival = { readonly id: string } & (
  | { readonly page: IteratorResult<readonly FollowItem[]> }
  | { readonly error: unknown }
);

/**
 * Streams of pages, which are taken as they arrive. One that is quiet costs nothing for what the
 * others say, as it would in a race of them all for each page.
 */
function createSources(rootId: string) {
  const sources = new Map<string, Pages>();
  const arrived: Arrival[] = [];
  let awaited = 0;
  let wake = (): void => undefined;
  const arrive = (arrival: Arrival) => {
    arrived.push(arrival);
    wake();
  };
  const pull = (id: string, source: Pages) => {
    awaited++;
    source.next().then(
      (page) => arrive({ id, page }),
      // What is elsewhere may be out of reach; of the run itself a failure is the reader's.
      (error) => arrive(id === rootId ? { id, error } : { id, page: { done: true, value: undefined } }),
    );
  };
  return {
    has: (id: string) => sources.has(id),
    isFull: () => sources.size >= maxFollowed,
    follow(id: string, pages: AsyncIterable<readonly FollowItem[]>): void {
      const source = pages[Symbol.asyncIterator]();
      sources.set(id, source);
      pull(id, source);
    },
    async next(): Promise<{ readonly id: string; readonly page: readonly FollowItem[] } | undefined> {
      while (awaited > 0) {
        const arrival = arrived.shift();
        if (arrival === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        awaited--;
        if ("error" in arrival) throw arrival.error;
        const { id, page } = arrival;
        const source = sources.get(id);
        if (page.done === true || source === undefined) continue;
        pull(id, source);
        return { id, page: page.value };
      }
      return undefined;
    },
    close(): void {
      for (const source of sources.values()) source.return?.()?.catch(() => undefined);
    },
  };
}

/** Follows the runs that events say were asked for, each once; tells of one that is new. */
function createAsked(
  { engine, elsewhere }: FamilyDeps,
  { sources, relayed }: { readonly sources: Sources; readonly relayed: Relayed },
  principal: string,
  place: FamilyPlace,
) {
  const asks = new Map<string, { readonly agent: string; readonly url: string }>();
  return async (item: StoredEvent): Promise<FamilyItem | undefined> => {
    const event = readEvent(item.event);
    if (event.type === "agent-asked") asks.set(event.askId, event);
    if (event.type !== "agent-accepted") return undefined;
    const { askId, taskId } = event;
    relayed.accepted(item.runId, askId, taskId, place.after.get(taskId) ?? 0);
    if (sources.has(taskId)) return undefined;
    const { url = "" } = asks.get(askId) ?? (await askOf(engine, item.runId, askId, item.seq)) ?? {};
    const ask = { runId: item.runId, askId, agent: event.agent, url, taskId };
    const run = await engine.get(taskId, principal);
    const from = { after: place.after.get(taskId) ?? 0, signal: place.signal };
    const pages = () =>
      run !== undefined
        ? engine.follow(taskId, from).pages()
        : elsewhere && one(elsewhere(ask, { ...from, principal }));
    const followed = sources.isFull() ? undefined : pages();
    if (followed !== undefined) sources.follow(taskId, followed);
    return { kind: "asked", ask, ...(run && { run }), followed: followed !== undefined };
  };
}

/** The ask of an answer, from the events before it. */
async function askOf(engine: FamilyDeps["engine"], runId: string, askId: string, before: number) {
  for (const { event } of (await engine.get(runId)) === undefined ? [] : await engine.events(runId, 0, before)) {
    const read = readEvent(event);
    if (read.type === "agent-asked" && read.askId === askId) return read;
  }
  return undefined;
}

async function* one(items: AsyncIterable<FollowItem>): AsyncGenerator<readonly FollowItem[], void, undefined> {
  for await (const item of items) yield [item];
}

import type { Cluster } from "./cluster.ts";
import type { Part, ProcessPart } from "./part.ts";

/** What can be done to a cluster. */
export const killings = ["agent", "gateway", "restate", "postgres", "balancer", "hang"] as const;

/** One of them. */
export type Killing = (typeof killings)[number];

/** When, and by which choices, parts are ended. */
export type KillPlan = {
  readonly seed: number;
  readonly seconds: number;
  readonly everyMs: number;
  /** What may happen; left out: everything. */
  readonly only?: readonly Killing[];
  readonly say: (line: string) => void;
};

/** What ends is away for so long. */
const awayMs = 1_000;
/** Longer than a lease, so that its runs are taken over before it wakes up. */
const hangsMs = 18_000;

/**
 * Ends a part, or lets it hang, every `everyMs`, and starts it again. Each sort of part comes
 * before any comes again. Of Restate's nodes one is away at a time, and one process hangs at a
 * time. Resolves with how often each was done, once all parts are there again.
 */
export async function killParts(
  cluster: Cluster,
  { seed, seconds, everyMs, only = killings, say }: KillPlan,
): Promise<Record<Killing, number>> {
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const done = Object.fromEntries(killings.map((one) => [one, 0])) as Record<Killing, number>;
  const busy = new Set<string>();
  const back: Promise<void>[] = [];
  const begun = performance.now();
  const away = (what: string, part: Part, work: () => Promise<void>) => {
    say(`${((performance.now() - begun) / 1000).toFixed(1)} s: ${part.name} ${what}`);
    busy.add(part.name);
    const ended = work().finally(() => busy.delete(part.name));
    // It is awaited at the end; until then it must not end this process, which has parts to end.
    ended.catch(() => undefined);
    back.push(ended);
  };
  const isFree = ({ name }: Part) => !busy.has(name);
  let hanging: ProcessPart | undefined;
  const kill = (killing: Killing): boolean => {
    if (killing === "hang") {
      const part = pick([...cluster.agents, ...cluster.gateways].filter(isFree));
      if (hanging !== undefined || part === undefined) return false;
      hanging = part;
      part.hang();
      away("hangs", part, async () => {
        await Bun.sleep(hangsMs);
        part.wake();
        hanging = undefined;
        say(`${((performance.now() - begun) / 1000).toFixed(1)} s: ${part.name} wakes up`);
      });
      return true;
    }
    const parts = {
      agent: cluster.agents,
      gateway: cluster.gateways,
      restate: cluster.restate,
      postgres: [cluster.postgres],
      balancer: [cluster.balancer],
    }[killing];
    if (killing === "restate" && !parts.every(isFree)) return false;
    const part = pick(parts.filter(isFree));
    if (part === undefined) return false;
    away("is killed", part, async () => {
      await part.stop();
      await Bun.sleep(awayMs);
      await part.start();
    });
    return true;
  };
  let left: Killing[] = [];
  while (performance.now() - begun < seconds * 1000) {
    // What hangs is away for longest, so it comes first.
    if (left.length === 0)
      left = [
        ...only.filter((one) => one === "hang"),
        ...shuffled(
          only.filter((one) => one !== "hang"),
          random,
        ),
      ];
    const next = left.shift();
    if (next === undefined) return done;
    if (kill(next)) done[next]++;
    await Bun.sleep(everyMs);
  }
  await Promise.all(back);
  return done;
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list
    .map((one) => ({ one, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

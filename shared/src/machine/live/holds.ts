import { abortable, within } from "../../core/async/within.ts";
import { AppError } from "../../core/errors.ts";
import type { InputBurst, PersonInput } from "../../core/live-page.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createBursts } from "./bursts.ts";

/** How long a person may hold a page, in milliseconds: without doing anything, and in all. */
export type HoldBounds = { readonly idleMs: number; readonly maxMs: number };

const defaultBounds: HoldBounds = { idleMs: 120_000, maxMs: 30 * 60_000 };

/**
 * What an agent and a person use in turn: the page of a browser, the screen of a desktop. `Thing`
 * is that of a conversation while it is open.
 */
export type Shareable<Thing extends object> = {
  readonly name: "page" | "screen";
  peek(workspace: Workspace): Thing | undefined;
  /** Does to it what a person did to its picture. */
  use(thing: Thing, input: PersonInput): Promise<void>;
  /** It is the agent's again, after a person used it for so many seconds. */
  handedBack(thing: Thing, workspace: Workspace, seconds: number): Promise<void>;
};

/** Who has the turn on a conversation's page or screen: its agent, or a person. */
export interface Holds {
  isHeld(workspace: Workspace): boolean;
  /** Gives the page to a person once the agent's call has ended. */
  take(workspace: Workspace): Promise<void>;
  /** Carries out inputs after those before them; `burst` says which those are. */
  input(workspace: Workspace, inputs: readonly PersonInput[], burst?: InputBurst): Promise<void>;
  handBack(workspace: Workspace): Promise<void>;
  /**
   * Does an agent's work on the page, after a person has handed it back. `wasUsed`: a person used
   * the page since the agent last saw it.
   */
  turn<T>(workspace: Workspace, signal: AbortSignal, work: (wasUsed: boolean) => Promise<T>): Promise<T>;
  /** From now on the agent knows the page as it is. */
  seen(workspace: Workspace): void;
}

type Hold<Thing extends object> = {
  readonly thing: Thing;
  readonly since: number;
  usedAt: number;
  inputs: Promise<unknown>;
  isUsed: boolean;
  ending: Promise<void> | undefined;
};

const agentMs = 15_000;
const inputMs = 10_000;
const lookMs = 500;

/** Holds over what is shared. */
export function createHolds<Thing extends object>(shared: Shareable<Thing>, bounds: Partial<HoldBounds> = {}): Holds {
  const { name } = shared;
  const holds = new Map<string, Hold<Thing>>();
  const calls = createCalls();
  const used = new WeakSet<Thing>();
  const bursts = createBursts();
  const held = (workspace: Workspace): Hold<Thing> | undefined => {
    const hold = holds.get(workspace.root);
    if (hold === undefined || shared.peek(workspace) === hold.thing) return hold;
    holds.delete(workspace.root);
    return undefined;
  };
  const handBack = async (workspace: Workspace): Promise<void> => {
    const hold = held(workspace);
    if (hold === undefined) return;
    hold.ending ??= end(hold, (seconds) => shared.handedBack(hold.thing, workspace, seconds)).finally(() => {
      if (hold.isUsed) used.add(hold.thing);
      if (holds.get(workspace.root) === hold) holds.delete(workspace.root);
    });
    await hold.ending;
  };
  return {
    isHeld: (workspace) => held(workspace) !== undefined,
    handBack,
    async take(workspace) {
      const thing = shared.peek(workspace);
      if (thing === undefined) throw new AppError("conflict", `No ${name} is open.`);
      const known = held(workspace);
      if (known !== undefined && known.ending === undefined) return;
      await known?.ending;
      const hold = holdOf(thing);
      holds.set(workspace.root, hold);
      if ((await within(agentMs, calls.ended(workspace))) === undefined) {
        holds.delete(workspace.root);
        throw new AppError("conflict", `The agent is still at work on the ${name}. Try again in a moment.`);
      }
      hold.usedAt = performance.now();
      endInTime(
        hold,
        { ...defaultBounds, ...bounds },
        {
          isOver: () => held(workspace) !== hold,
          end: () => void handBack(workspace).catch(() => undefined),
        },
      );
    },
    async input(workspace, inputs, burst) {
      if (burst !== undefined) await bursts.turn(burst);
      const hold = held(workspace);
      if (hold === undefined || hold.ending !== undefined)
        throw new AppError("conflict", `You don't have the ${name}: it was handed back.`);
      hold.usedAt = performance.now();
      hold.isUsed = true;
      const done = hold.inputs.then(async () => {
        for (const input of inputs) await shared.use(hold.thing, input);
      });
      hold.inputs = done.catch(() => undefined);
      await done;
    },
    async turn(workspace, signal, work) {
      for (let hold = held(workspace); hold !== undefined; hold = held(workspace))
        await abortable(Promise.race([hold.ending ?? Bun.sleep(lookMs), Bun.sleep(lookMs)]), signal);
      const thing = shared.peek(workspace);
      return await calls.during(workspace, work(thing !== undefined && used.has(thing)));
    },
    seen(workspace) {
      const thing = shared.peek(workspace);
      if (thing !== undefined) used.delete(thing);
    },
  };
}

/** The agents' calls under way, by conversation. */
function createCalls() {
  const working = new Map<string, Set<Promise<unknown>>>();
  return {
    ended: ({ root }: Workspace) => Promise.allSettled(working.get(root) ?? []),
    async during<T>({ root }: Workspace, call: Promise<T>): Promise<T> {
      const calls = working.get(root) ?? new Set();
      working.set(root, calls.add(call));
      try {
        return await call;
      } finally {
        calls.delete(call);
        if (calls.size === 0) working.delete(root);
      }
    },
  };
}

function holdOf<Thing extends object>(thing: Thing): Hold<Thing> {
  const now = performance.now();
  return { thing, since: now, usedAt: now, isUsed: false, inputs: Promise.resolve(), ending: undefined };
}

/** Ends a hold that is not used, or lasts too long. */
function endInTime(
  hold: Hold<object>,
  { idleMs, maxMs }: HoldBounds,
  { isOver, end }: { isOver(): boolean; end(): void },
): void {
  const timer = setInterval(
    () => {
      if (isOver()) return clearInterval(timer);
      const now = performance.now();
      if (now - hold.usedAt > idleMs || now - hold.since > maxMs) end();
    },
    Math.min(1_000, idleMs),
  );
  timer.unref();
}

/** It is the agent's again, once what the person did last is done. */
async function end<Thing extends object>(
  { since, inputs, isUsed }: Hold<Thing>,
  handedBack: (seconds: number) => Promise<void>,
): Promise<void> {
  await within(inputMs, inputs);
  if (isUsed) await handedBack(Math.max(1, Math.round((performance.now() - since) / 1_000)));
}

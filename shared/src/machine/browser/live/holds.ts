import { abortable, within } from "../../../core/async/within.ts";
import { AppError } from "../../../core/errors.ts";
import type { PersonInput } from "../../../core/live-page.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Browsers, Browsing } from "../browser.ts";
import { coverTyped, performInput } from "./person-input.ts";

/** How long a person may hold a page, in milliseconds: without doing anything, and in all. */
export type HoldBounds = { readonly idleMs: number; readonly mostMs: number };

const defaultBounds: HoldBounds = { idleMs: 120_000, mostMs: 30 * 60_000 };

/** Who has the turn on a conversation's page: its agent, or a person. */
export interface Holds {
  isHeld(workspace: Workspace): boolean;
  /** Gives the page to a person once the agent's call has ended. */
  take(workspace: Workspace): Promise<void>;
  input(workspace: Workspace, inputs: readonly PersonInput[]): Promise<void>;
  handBack(workspace: Workspace): Promise<void>;
  /**
   * Does an agent's work on the page, after a person has handed it back. `wasUsed`: a person used
   * the page since the agent last saw it.
   */
  turn<T>(workspace: Workspace, signal: AbortSignal, work: (wasUsed: boolean) => Promise<T>): Promise<T>;
  /** From now on the agent knows the page as it is. */
  seen(workspace: Workspace): void;
}

/** Told when a page is handed back: where something was typed. */
export type OnHandBack = (workspace: Workspace, typedAt: readonly URL[]) => Promise<void>;

type Hold = {
  readonly browsing: Browsing;
  readonly since: number;
  readonly typedAt: Map<string, URL>;
  usedAt: number;
  inputs: Promise<unknown>;
  isUsed: boolean;
  ending: Promise<void> | undefined;
};

const agentMs = 15_000;
const inputMs = 10_000;
const lookMs = 500;

/** Holds over the pages of these browsers. */
export function createHolds(browsers: Browsers, onHandBack: OnHandBack, bounds: Partial<HoldBounds> = {}): Holds {
  const holds = new Map<string, Hold>();
  const calls = createCalls();
  const used = new WeakSet<Browsing>();
  const held = (workspace: Workspace): Hold | undefined => {
    const hold = holds.get(workspace.root);
    if (hold === undefined || browsers.peek(workspace) === hold.browsing) return hold;
    holds.delete(workspace.root);
    return undefined;
  };
  const handBack = async (workspace: Workspace): Promise<void> => {
    const hold = held(workspace);
    if (hold === undefined) return;
    hold.ending ??= end(hold, (typedAt) => onHandBack(workspace, typedAt)).finally(() => {
      if (hold.isUsed) used.add(hold.browsing);
      if (holds.get(workspace.root) === hold) holds.delete(workspace.root);
    });
    await hold.ending;
  };
  return {
    isHeld: (workspace) => held(workspace) !== undefined,
    handBack,
    async take(workspace) {
      const browsing = browsers.peek(workspace);
      if (browsing === undefined) throw new AppError("conflict", "No page is open.");
      const known = held(workspace);
      if (known !== undefined && known.ending === undefined) return;
      await known?.ending;
      const hold = holdOf(browsing);
      holds.set(workspace.root, hold);
      if ((await within(agentMs, calls.ended(workspace))) === undefined) {
        holds.delete(workspace.root);
        throw new AppError("conflict", "The agent is still at work on the page. Try again in a moment.");
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
    async input(workspace, inputs) {
      const hold = held(workspace);
      if (hold === undefined || hold.ending !== undefined)
        throw new AppError("conflict", "You don't have the page: it was handed back.");
      hold.usedAt = performance.now();
      hold.isUsed = true;
      const done = hold.inputs.then(() => useAll(hold, inputs));
      hold.inputs = done.catch(() => undefined);
      await done;
    },
    async turn(workspace, signal, work) {
      for (let hold = held(workspace); hold !== undefined; hold = held(workspace))
        await abortable(Promise.race([hold.ending ?? Bun.sleep(lookMs), Bun.sleep(lookMs)]), signal);
      const browsing = browsers.peek(workspace);
      return await calls.during(workspace, work(browsing !== undefined && used.has(browsing)));
    },
    seen(workspace) {
      const browsing = browsers.peek(workspace);
      if (browsing !== undefined) used.delete(browsing);
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

function holdOf(browsing: Browsing): Hold {
  const now = performance.now();
  const times = { since: now, usedAt: now };
  return { browsing, ...times, typedAt: new Map(), isUsed: false, inputs: Promise.resolve(), ending: undefined };
}

/** Ends a hold that is not used, or lasts too long. */
function endInTime(
  hold: Hold,
  { idleMs, mostMs }: HoldBounds,
  { isOver, end }: { isOver(): boolean; end(): void },
): void {
  const timer = setInterval(
    () => {
      if (isOver()) return clearInterval(timer);
      const now = performance.now();
      if (now - hold.usedAt > idleMs || now - hold.since > mostMs) end();
    },
    Math.min(1_000, idleMs),
  );
  timer.unref();
}

async function useAll({ browsing, typedAt }: Hold, inputs: readonly PersonInput[]): Promise<void> {
  const bounds = { signal: new AbortController().signal, timeoutMs: inputMs };
  for (const input of inputs) {
    const dialog = browsing.dialog();
    if (input.type === "dialog") {
      await dialog?.answer(input.accept, input.text);
      continue;
    }
    if (dialog !== undefined) throw new AppError("conflict", "Answer the page's dialog first.");
    const url = URL.parse(browsing.active().page.url());
    if (url !== null && (input.type === "text" || input.type === "key")) typedAt.set(url.host, url);
    try {
      await browsing.act((page) => performInput(page, input), bounds);
    } catch (error) {
      if (error instanceof AppError) throw error;
      // Whatever the browser says of it may hold what was typed.
      throw new AppError("unavailable", "The page did not take that.");
    }
  }
}

/** The page is the agent's again: covers what was typed, and says what happened. */
async function end(hold: Hold, onHandBack: (typedAt: readonly URL[]) => Promise<void>): Promise<void> {
  const { browsing, since, typedAt, inputs, isUsed } = hold;
  await within(inputMs, inputs);
  if (!isUsed) return;
  await onHandBack([...typedAt.values()]);
  await Promise.all(browsing.tabs().map(({ page }) => coverTyped(page)));
  const seconds = Math.max(1, Math.round((performance.now() - since) / 1_000));
  browsing.tell(`A person used the browser for ${seconds} s and handed it back, on ${placeOf(browsing)}.`);
}

/** Where the page is, without what its address may hold of a form. */
function placeOf(browsing: Browsing): string {
  const url = URL.parse(browsing.active().page.url());
  return url === null || url.origin === "null" ? "an empty page" : `${url.origin}${url.pathname}`.slice(0, 300);
}

import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext } from "../../core/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { CallOptions, CallOutcome, Session } from "../../machine/sandbox/session.ts";

/** A call's outcome, and what the caller has to know about the session it ran in. */
export type PooledOutcome = CallOutcome & {
  /**
   * Why the state of earlier calls is lost, when this call started a new session although there had
   * been one.
   */
  readonly restarted?: string;
};

/**
 * Interpreters of conversations, one each: started when needed, closed when idle or when there are
 * too many. Calls of one conversation run in turn.
 */
export interface SessionPool {
  run(context: ToolContext, code: string, options: CallOptions): Promise<PooledOutcome>;
  /** Ends the conversation's session after the earlier calls; the next call starts a new one. */
  restart(workspace: Workspace): Promise<void>;
  /** Ends the conversation's session at once, whatever is running in it. */
  release(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

type Slot = {
  session: Session | undefined;
  queue: Promise<unknown>;
  /** Why this process's last session is gone; undefined while one is alive or before the first. */
  lost: string | undefined;
  idle: ReturnType<typeof setTimeout> | undefined;
  /** Calls that are running or waiting. */
  calls: number;
};

const defaultIdleMs = 30 * 60_000;
const defaultMost = 100;

/**
 * `name` names the marker file that shows a later process that a conversation had a session which
 * was lost with this process; `open` starts an interpreter in a conversation's workspace. Above
 * `most` interpreters, the one that has been without a call the longest is closed.
 */
export function createSessionPool(options: {
  readonly name: string;
  readonly open: (workspace: string) => Promise<Session>;
  readonly idleMs?: number;
  readonly most?: number;
}): SessionPool {
  const { name, open, idleMs = defaultIdleMs, most = defaultMost } = options;
  /** In order of use: the most recently used is last. */
  const slots = new Map<string, Slot>();

  function slotOf({ root }: Workspace): Slot {
    const slot = slots.get(root) ?? {
      session: undefined,
      queue: Promise.resolve(),
      lost: undefined,
      idle: undefined,
      calls: 0,
    };
    slots.delete(root);
    slots.set(root, slot);
    return slot;
  }

  async function makeRoomFor(slot: Slot): Promise<void> {
    const others = [...slots.values()].filter(
      (each) => each !== slot && (each.session !== undefined || each.calls > 0),
    );
    const oldest = others.find(({ calls }) => calls === 0);
    if (others.length < most || oldest === undefined) return;
    await inTurn(oldest, () => drop(oldest, "too many others were in use"));
  }

  return {
    run(context, code, callOptions) {
      const slot = slotOf(context.workspace);
      slot.calls += 1;
      const turn = inTurn(slot, async () => {
        callOptions.signal.throwIfAborted();
        clearTimeout(slot.idle);
        if (slot.session === undefined) await makeRoomFor(slot);
        const restarted = await ensureSession(slot, context, name, open);
        try {
          return { ...(await callIn(slot, code, callOptions)), ...(restarted === undefined ? {} : { restarted }) };
        } finally {
          slot.idle = setTimeout(() => void inTurn(slot, () => drop(slot, "it was idle for long")), idleMs);
          slot.idle.unref();
        }
      }).finally(() => {
        slot.calls -= 1;
      });
      return untilAborted(turn, callOptions.signal);
    },
    restart: (workspace) => {
      const slot = slotOf(workspace);
      return inTurn(slot, () => drop(slot, "a restart was asked for"));
    },
    release: (workspace) => drop(slotOf(workspace), "the task was canceled"),
    async close() {
      const closing = [...slots.values()];
      slots.clear();
      await Promise.all(closing.map((slot) => drop(slot, "the server is closing")));
    },
  };
}

function inTurn<T>(slot: Slot, act: () => Promise<T>): Promise<T> {
  const turn = slot.queue.then(act);
  slot.queue = turn.catch(() => {});
  return turn;
}

/** Cancellation ends the wait of a queued call; a running call ends itself. */
function untilAborted<T>(turn: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return Promise.race([turn, promise]).finally(() => signal.removeEventListener("abort", abort));
}

async function drop(slot: Slot, cause: string): Promise<void> {
  clearTimeout(slot.idle);
  const { session } = slot;
  slot.session = undefined;
  if (session === undefined) return;
  slot.lost = cause;
  await session.close();
}

async function ensureSession(
  slot: Slot,
  context: ToolContext,
  name: string,
  open: (workspace: string) => Promise<Session>,
): Promise<string | undefined> {
  if (slot.session?.alive()) return undefined;
  const marker = join(context.workspace.metaRoot, `${name}-session`);
  const lost = slot.session ? "it had ended by itself" : (slot.lost ?? (await leftByOther(marker)));
  slot.session = await open(context.workspace.root);
  slot.lost = undefined;
  await mkdir(context.workspace.metaRoot, { recursive: true });
  await writeFile(marker, "");
  return lost;
}

async function leftByOther(marker: string): Promise<string | undefined> {
  return stat(marker).then(
    () => "the server was restarted",
    () => undefined,
  );
}

async function callIn(slot: Slot, code: string, options: CallOptions): Promise<CallOutcome> {
  const { session } = slot;
  if (session === undefined) throw new Error("a session was expected to be open");
  try {
    const outcome = await session.call(code, options);
    if (outcome.state !== "finished") {
      slot.session = undefined;
      slot.lost =
        outcome.state === "ended" ? `it ended with exit code ${outcome.exitCode}` : "it did not stop at its limit";
      await session.close();
    }
    return outcome;
  } catch (error) {
    slot.session = undefined;
    slot.lost = "the call before was canceled";
    await session.close();
    throw error;
  }
}

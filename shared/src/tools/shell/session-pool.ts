import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closeAll } from "../../core/async/close-all.ts";
import { isShutdown } from "../../core/runs/shutdown.ts";
import type { ToolContext } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import type { Session, SessionCallOptions, SessionCallOutcome } from "../../machine/sandbox/session.ts";

/** A call's outcome, and what the caller has to know about the session it ran in. */
export type PooledOutcome = SessionCallOutcome & {
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
  run(context: Pick<ToolContext, "workspace">, code: string, options: SessionCallOptions): Promise<PooledOutcome>;
  /** The conversation's session, if one is open; the same object while it lives. */
  peek(workspace: Workspace): object | undefined;
  /** Ends the conversation's session after the earlier calls; the next call starts a new one. */
  restart(workspace: Workspace): Promise<void>;
  /** Ends the conversation's session at once, whatever is running in it. */
  release(workspace: Workspace): Promise<void>;
  close(): Promise<void>;
}

type Slot = {
  readonly workspace: Workspace;
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

const restartedText = "the server was restarted";

/**
 * `name` names the marker file that shows that a conversation had a session, and why it is gone;
 * nothing stands in it if the session was lost with its process. `open` starts an interpreter in a
 * conversation's workspace. Above `most` interpreters, the one that has been without a call the
 * longest is closed.
 */
export function createSessionPool(options: {
  readonly name: string;
  readonly open: (workspace: Workspace) => Promise<Session>;
  readonly idleMs?: number;
  readonly most?: number;
}): SessionPool {
  const { name, open, idleMs = defaultIdleMs, most = defaultMost } = options;
  /** In order of use: the most recently used is last. */
  const slots = new Map<string, Slot>();

  function slotOf(workspace: Workspace): Slot {
    const { root } = workspace;
    const slot = slots.get(root) ?? newSlot(workspace);
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
    await inTurn(oldest, () => end(oldest, "too many others were in use"));
  }

  /** Ends what a slot holds, then forgets the slot. */
  async function end(slot: Slot, cause: string): Promise<void> {
    await drop(slot, cause);
    await forget(slot);
  }

  /**
   * Removes a slot that is out of use, in its turn; why its session is gone goes into the marker.
   */
  async function forget(slot: Slot): Promise<void> {
    const { workspace, lost } = slot;
    const isOver = () => slot.session === undefined && slot.calls === 0 && slots.get(workspace.root) === slot;
    if (!isOver()) return;
    // The workspace may have been deleted meanwhile.
    if (lost !== undefined) await writeFile(markerOf(workspace, name), lost).catch(() => undefined);
    if (!isOver()) return;
    clearTimeout(slot.idle);
    slots.delete(workspace.root);
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
          slot.idle = setTimeout(() => void inTurn(slot, () => end(slot, "it was idle for long")), idleMs);
          slot.idle.unref();
        }
      }).finally(() => {
        slot.calls -= 1;
        void inTurn(slot, () => forget(slot));
      });
      return untilAborted(turn, callOptions.signal);
    },
    peek({ root }) {
      const session = slots.get(root)?.session;
      return session?.alive() ? session : undefined;
    },
    async restart({ root }) {
      const slot = slots.get(root);
      if (slot !== undefined) await inTurn(slot, () => end(slot, "a restart was asked for"));
    },
    async release({ root }) {
      const slot = slots.get(root);
      if (slot === undefined) return;
      await drop(slot, "its task was stopped");
      void inTurn(slot, () => forget(slot));
    },
    async close() {
      const closing = [...slots.values()];
      slots.clear();
      await closeAll(closing.map((slot) => () => drop(slot, "the server is closing")));
    },
  };
}

function newSlot(workspace: Workspace): Slot {
  return { workspace, session: undefined, queue: Promise.resolve(), lost: undefined, idle: undefined, calls: 0 };
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
  context: Pick<ToolContext, "workspace">,
  name: string,
  open: (workspace: Workspace) => Promise<Session>,
): Promise<string | undefined> {
  if (slot.session?.alive()) return undefined;
  const marker = markerOf(context.workspace, name);
  const lost = slot.session ? "it had ended by itself" : (slot.lost ?? (await lostEarlier(marker)));
  slot.session = await open(context.workspace);
  slot.lost = undefined;
  await mkdir(context.workspace.metaRoot, { recursive: true });
  await writeFile(marker, "");
  return lost;
}

function markerOf({ metaRoot }: Workspace, name: string): string {
  return join(metaRoot, `${name}-session`);
}

/** Why an earlier session is gone that this process knows nothing of, if there was one. */
async function lostEarlier(marker: string): Promise<string | undefined> {
  return readFile(marker, "utf8").then(
    (cause) => cause || restartedText,
    () => undefined,
  );
}

async function callIn(slot: Slot, code: string, options: SessionCallOptions): Promise<SessionCallOutcome> {
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
    slot.lost = isShutdown(options.signal.reason) ? restartedText : "the call before was canceled";
    await session.close();
    throw error;
  }
}

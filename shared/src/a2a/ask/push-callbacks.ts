import { createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../../core/errors.ts";
import type { A2aClient } from "../client/client.ts";

/**
 * Where agents ring when a task has news, so that they need not be asked all the time. That it rang
 * says no more than that it is time to look: nothing an agent sends here is believed, and one that
 * never rings is looked at all the same.
 */
export interface PushCallbacks {
  /**
   * Tells an agent where to ring for a task, once in a process; whether it knows. Rejects with the
   * signal's reason only.
   */
  subscribe(client: A2aClient, taskId: string, askId: string, signal: AbortSignal): Promise<boolean>;
  /** Whether the agent was told, and took it. */
  knows(askId: string): boolean;
  /** Aborted when it rings for the ask the next time. */
  next(askId: string): AbortSignal;
  /** Nobody listens for the ask any more. */
  leave(askId: string): void;
  /** It rings. Throws `unauthorized` where the token is not the one that belongs to the ask. */
  notify(askId: string, token: string): void;
}

/** Asks whose agents are remembered to know where to ring. */
const mostKnown = 10_000;

/**
 * Makes one that is reached at `url`. The secret makes the tokens, which are good for as long as it
 * is the same.
 */
export function createPushCallbacks({ url, secret }: { readonly url: string; readonly secret: string }): PushCallbacks {
  const listening = new Map<string, AbortController>();
  const known = new Map<string, boolean>();
  const tokenOf = (askId: string) => createHmac("sha256", secret).update(askId).digest("base64url");

  const tell = async (client: A2aClient, taskId: string, askId: string, signal: AbortSignal) => {
    try {
      const address = `${url.replace(/\/+$/, "")}/${encodeURIComponent(askId)}`;
      await client.notify(taskId, { id: "manyhands", url: address, token: tokenOf(askId) }, { signal });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      // An agent that cannot reach us, or will not, is asked as before.
      if (error instanceof AppError) return false;
      throw error;
    }
  };
  return {
    knows: (askId) => known.get(askId) ?? false,
    async subscribe(client, taskId, askId, signal) {
      if (client.card.capabilities?.pushNotifications !== true) return false;
      const told = known.get(askId) ?? (await tell(client, taskId, askId, signal));
      known.set(askId, told);
      const oldest = known.keys().next().value;
      if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
      return told;
    },
    next(askId) {
      const bell = listening.get(askId) ?? new AbortController();
      listening.set(askId, bell);
      return bell.signal;
    },
    leave: (askId) => void listening.delete(askId),
    notify(askId, token) {
      const [expected, given] = [Buffer.from(tokenOf(askId)), Buffer.from(token)];
      if (expected.length !== given.length || !timingSafeEqual(expected, given))
        throw new AppError("unauthorized", "This is not the token that belongs here.");
      listening.get(askId)?.abort();
      listening.delete(askId);
    },
  };
}

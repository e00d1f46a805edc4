import { createHmac } from "node:crypto";
import { AppError } from "../../core/errors.ts";
import { sameSecret } from "../../core/text/same-secret.ts";
import { withoutLastSlashes } from "../../core/text/without-last-slashes.ts";
import type { A2aClient } from "../client/client.ts";
import type { KeySets } from "../signing/key-sets.ts";
import { checkNotification, signatureOf } from "../signing/notification-signature.ts";

/**
 * Callbacks that agents notify when a task has news, to save polling. A notification only prompts a
 * look: its content is not trusted, and agents that never notify are still polled.
 */
export interface PushCallbacks {
  /**
   * Subscribes to a task at its agent, once per process; returns whether the agent accepted.
   * Rejects only with the signal's reason.
   */
  subscribe(
    client: A2aClient,
    task: { readonly taskId: string; readonly askId: string; readonly agentUrl: string },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Whether the agent accepted the subscription. */
  knows(askId: string): boolean;
  /** Aborted at the next notification for the ask. */
  next(askId: string): AbortSignal;
  /** Ends the subscription of an ask. */
  leave(askId: string): void;
  /**
   * Receives a notification. Rejects with `unauthorized` if the token is not the ask's, or if it is
   * signed and its agent's published keys did not sign it.
   */
  notify(askId: string, notification: { readonly headers: Headers; readonly body: string }): Promise<void>;
}

/** How many subscribed asks are remembered. */
const maxKnown = 10_000;

/**
 * Creates callbacks reachable at `url`. Tokens derive from the secret and stay valid as long as it
 * does.
 */
export function createPushCallbacks({
  url,
  secret,
  keySets,
}: {
  readonly url: string;
  readonly secret: string;
  /** Reads the keys of agents that sign; if omitted, signatures are not looked at. */
  readonly keySets?: KeySets;
}): PushCallbacks {
  const listening = new Map<string, AbortController>();
  const known = new Map<string, { readonly told: boolean; readonly agentUrl: string }>();
  const tokenOf = (askId: string) => createHmac("sha256", secret).update(askId).digest("base64url");

  const tell = async (client: A2aClient, taskId: string, askId: string, signal: AbortSignal) => {
    try {
      const address = `${withoutLastSlashes(url)}/${encodeURIComponent(askId)}`;
      await client.notify(taskId, { id: "manyhands", url: address, token: tokenOf(askId) }, { signal });
      return true;
    } catch (error) {
      signal.throwIfAborted();
      // An agent that cannot or will not notify us is polled as before.
      if (error instanceof AppError) return false;
      throw error;
    }
  };
  return {
    knows: (askId) => known.get(askId)?.told ?? false,
    async subscribe(client, { taskId, askId, agentUrl }, signal) {
      if (client.card.capabilities?.pushNotifications !== true) return false;
      const told = known.get(askId)?.told ?? (await tell(client, taskId, askId, signal));
      known.set(askId, { told, agentUrl });
      const oldest = known.keys().next().value;
      if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
      return told;
    },
    next(askId) {
      const bell = listening.get(askId) ?? new AbortController();
      listening.set(askId, bell);
      return bell.signal;
    },
    leave: (askId) => void listening.delete(askId),
    async notify(askId, { headers, body }) {
      if (!sameSecret(headers.get("X-A2A-Notification-Token") ?? "", tokenOf(askId)))
        throw new AppError("unauthorized", "This is not the token that belongs here.");
      const [jwt, agent] = [signatureOf(headers), known.get(askId)];
      if (jwt !== undefined && agent !== undefined && keySets !== undefined)
        await checkNotification(jwt, body, agent.agentUrl, keySets);
      listening.get(askId)?.abort();
      listening.delete(askId);
    },
  };
}

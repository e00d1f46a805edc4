import { isIP } from "node:net";
import { AppError } from "../../core/errors.ts";
import type { OwnTls } from "../../machine/egress/connect.ts";
import { createEgress } from "../../machine/egress/egress.ts";
import { admitUrl, type EgressPolicy } from "../../machine/egress/policy.ts";
import { type Resolve, resolveBySystem, resolveChecked } from "../../machine/egress/resolve.ts";

/** Why a receiver did not accept a notification; `final` if a retry would change nothing. */
export type Refusal = { readonly reason: string; readonly final: boolean };

/** Sends notifications to receivers, whose addresses callers choose. */
export interface Webhooks {
  /**
   * Rejects with `forbidden` or `invalid_input` for an address that may not be reached. A name that
   * does not resolve now is admitted; sending to it will fail.
   */
  admit(url: string): Promise<void>;
  /**
   * Sends one notification; undefined if it was accepted. Rejects only with the signal's reason.
   */
  post(
    url: string,
    notification: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
    signal: AbortSignal,
  ): Promise<Refusal | undefined>;
}

const timeoutMs = 15_000;
/** Most bytes of the response, which is not used. */
const maxBytes = 1_000_000;
/** Statuses of temporary refusals: too slow, too early, too many. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Receivers allowed by the policy. Each notification connects to the address that was checked and
 * follows no redirect.
 */
export function createWebhooks(
  policy: EgressPolicy,
  options: {
    readonly proxy?: string | undefined;
    readonly resolve?: Resolve;
    readonly tls?: OwnTls | undefined;
  } = {},
): Webhooks {
  const { proxy, resolve = resolveBySystem, tls } = options;
  const egress = createEgress(policy, { proxy, resolve, tls });
  return {
    async admit(url) {
      const target = admitUrl(url, policy);
      if (isIP(target.hostname.replace(/^\[|\]$/g, "")) !== 0) return;
      await resolveChecked(target, { policy, resolve }).catch(unlessUnknown);
    },
    async post(url, notification, signal) {
      try {
        const { status } = await egress.fetch({ url, ...notification, signal, timeoutMs, maxBytes, maxRedirects: 0 });
        if (status >= 200 && status < 300) return undefined;
        return { reason: `it answered with HTTP status ${status}`, final: status < 500 && !passing.has(status) };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof AppError)) throw error;
        return { reason: error.message, final: error.code === "forbidden" || error.code === "invalid_input" };
      }
    },
  };
}

function unlessUnknown(error: unknown): void {
  if (!(error instanceof AppError && error.code === "unavailable")) throw error;
}

import { createWebhooks, type Webhooks } from "../a2a/push/webhooks.ts";
import type { Config } from "../config/config.ts";

/**
 * The way to receivers of notifications, which goes where the web tools may go, also where those
 * are switched off.
 */
export function openWebhooks({ egress: { proxy, ...policy } }: Pick<Config, "egress">): Webhooks {
  return createWebhooks(policy, { proxy });
}

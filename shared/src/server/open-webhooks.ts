import { createWebhooks, type Webhooks } from "../a2a/push/webhooks.ts";
import type { Config } from "../config/config.ts";

/**
 * Sends notifications to receivers, within the policy of the web tools even if those are switched
 * off.
 */
export function openWebhooks({ egress: { proxy, ...policy } }: Pick<Config, "egress">): Webhooks {
  return createWebhooks(policy, { proxy });
}

import { createWebhooks, type Webhooks } from "../../a2a/push/webhooks.ts";
import type { Config } from "../../config/config.ts";
import { openOwnTls } from "./open-own-tls.ts";

/**
 * Sends notifications to receivers, within the policy of the web tools even if those are switched
 * off.
 */
export function openWebhooks(config: Config): Webhooks {
  const { proxy, ...policy } = config.egress;
  return createWebhooks(policy, { proxy, tls: openOwnTls(config) });
}

import { createWebhooks, type Webhooks } from "../../a2a/push/webhooks.ts";
import type { Config } from "../../config/config.ts";
import { openOwnTls } from "./open-own-tls.ts";

/**
 * Sends notifications to receivers, within the policy of the web tools even if those are switched
 * off. `allowed` hosts are reached whatever their addresses.
 */
export function openWebhooks(config: Config, allowed: readonly string[] = []): Webhooks {
  const { proxy, ...egress } = config.egress;
  const policy = { ...egress, allow: [...egress.allow, ...allowed] };
  return createWebhooks(policy, { proxy, tls: openOwnTls(config) });
}

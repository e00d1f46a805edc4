import { lazily } from "../../core/async/lazy.ts";
import type { EgressOptions, EgressRequest, EgressResponse } from "./fetch-within.ts";
import { admitUrl, type EgressPolicy } from "./policy.ts";

/** The only way to the network for tools that read the web. */
export interface Egress {
  /**
   * Makes a request within the policy: every hop is checked, and connects to exactly the addresses
   * that were checked. Rejects with `invalid_input`, `forbidden`, `too_large`, `timeout` or
   * `unavailable`, or with the signal's own reason.
   */
  fetch(request: EgressRequest): Promise<EgressResponse>;
}

/** An egress whose policy can be asked. */
export interface PolicedEgress extends Egress {
  /**
   * Throws `invalid_input` or `forbidden` for an address that the policy refuses by its text alone.
   */
  admit(address: string | URL): void;
}

/**
 * `resolve` is the system's by default. With a proxy, names that this machine cannot resolve are
 * left to the proxy.
 */
export function createEgress(policy: EgressPolicy, options: EgressOptions = {}): PolicedEgress {
  // Node's HTTP clients are a tenth of what a server would load before it listens.
  const opened = lazily(async () => (await import("./fetch-within.ts")).fetchWithin(policy, options));
  return {
    admit: (address) => void admitUrl(address, policy),
    async fetch(request) {
      request.signal.throwIfAborted();
      return (await opened.get())(request);
    },
  };
}

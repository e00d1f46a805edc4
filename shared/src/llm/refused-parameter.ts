import type { Traits } from "./capabilities.ts";
import type { ModelFailure } from "./model-failure.ts";

const refusal =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra inputs|deprecated/i;

/**
 * What to change in the traits when a provider refuses a parameter we can do without; undefined when it refuses something else. Each
 * change is possible once, so that asking again comes to an end.
 */
export function withoutRefused({ kind, message }: ModelFailure, traits: Traits): Partial<Traits> | undefined {
  if (kind !== "rejected" || !refusal.test(message)) return undefined;
  if (traits.streamUsage && /stream_options/.test(message)) return { streamUsage: false };
  if (traits.maxTokensParameter === "max_tokens" && /max_completion_tokens/.test(message)) {
    return { maxTokensParameter: "max_completion_tokens" };
  }
  if (traits.temperature && /temperature/.test(message)) return { temperature: false };
  return undefined;
}

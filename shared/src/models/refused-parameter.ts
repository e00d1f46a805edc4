import type { Traits } from "./capabilities.ts";
import type { ModelFailure } from "./model-failure.ts";

const refusal =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra inputs|deprecated|must be verified/i;

/** How servers say that a model, or they themselves, know no function calling; not always with a status that blames us. */
const noTools =
  /(not support|unsupported|no support)\b[^.]{0,40}\b(tools?|function.?call\w*)\b|\b(tools?|tool.(use|calling|choice)|function.?call\w*)\W{0,2}( is| are| param)? (not (supported|enabled)|requires? --)|support tool use/i;

/**
 * What to change in the traits when a provider refuses a parameter we can do without; undefined when it refuses something else. Each
 * change is possible once, so that asking again comes to an end.
 */
export function withoutRefused({ kind, message }: ModelFailure, traits: Traits): Partial<Traits> | undefined {
  if (kind === "rejected" && traits.forcedTools && /tool_choice/.test(message)) return { forcedTools: false };
  if (traits.tools && noTools.test(message)) return { tools: false };
  if (kind !== "rejected" || !refusal.test(message)) return undefined;
  if (traits.streamUsage && /stream_options/.test(message)) return { streamUsage: false };
  if (traits.stream && /\bstream(ing)?\b/i.test(message)) return { stream: false };
  if (traits.maxTokensParameter === "max_tokens" && /max_completion_tokens/.test(message)) {
    return { maxTokensParameter: "max_completion_tokens" };
  }
  if (traits.temperature && /temperature/.test(message)) return { temperature: false };
  return undefined;
}

import { createRequire } from "node:module";
import type { Usage } from "../core/model.ts";
import type { ModelConfig } from "./config.ts";

type Prices = typeof import("@pydantic/genai-prices");

/**
 * Loaded when a price is first asked for: the list is a fifth of all code that a server would read
 * before it listens.
 */
const prices = () => createRequire(import.meta.url)("@pydantic/genai-prices") as Prices;

/**
 * US dollars that a call costs: by the configured price, else by the list price of the provider
 * that `baseUrl` belongs to, else null. A known name at an unknown address has no price: who serves
 * it there may charge anything.
 */
export function costOf(
  usage: Pick<Usage, "inputTokens" | "cachedInputTokens" | "outputTokens">,
  config: Pick<ModelConfig, "name" | "baseUrl" | "price">,
): number | null {
  const { price } = config;
  if (price !== undefined) {
    const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
    const fresh = usage.inputTokens - cached;
    const dollars =
      fresh * price.inputPerMillion +
      cached * (price.cachedInputPerMillion ?? price.inputPerMillion) +
      usage.outputTokens * price.outputPerMillion;
    return dollars / 1_000_000;
  }
  const listed = prices().calcPrice(
    {
      input_tokens: usage.inputTokens,
      cache_read_tokens: usage.cachedInputTokens,
      output_tokens: usage.outputTokens,
    },
    config.name,
    { providerApiUrl: config.baseUrl },
  );
  return listed?.total_price ?? null;
}

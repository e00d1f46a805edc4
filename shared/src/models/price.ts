import { createRequire } from "node:module";
import type { Usage } from "../core/model.ts";
import type { ModelConfig } from "./config.ts";

type Prices = typeof import("@pydantic/genai-prices");

/**
 * Loaded when a price is first needed: the list is a fifth of the code that a server would load
 * before it listens.
 */
const prices = () => createRequire(import.meta.url)("@pydantic/genai-prices") as Prices;

/**
 * The cost of a call in US dollars: by the configured price, otherwise by the list price of the
 * provider at `baseUrl`, otherwise null. A known name at an unknown address has no price, since its
 * server may charge anything.
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

import { createRequire } from "node:module";
import type { PricedTokens } from "../core/model.ts";
import type { ModelConfig } from "./config.ts";

type Prices = typeof import("@pydantic/genai-prices");

/**
 * Loaded when a price is first needed: the list is a fifth of the code that a server would load
 * before it listens.
 */
const prices = () => createRequire(import.meta.url)("@pydantic/genai-prices") as Prices;

type ListedPrice = number | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] };
type Priced = Pick<ModelConfig, "name" | "baseUrl" | "price">;
type Cost = (tokens: PricedTokens) => number | null;

const found = new WeakMap<Priced, Cost>();

/**
 * The cost of a call in US dollars: by the configured price, otherwise by the list price of the
 * provider at `baseUrl`, otherwise null. A known name at an unknown address has no price, since its
 * server may charge anything. The list is searched once for each configuration.
 */
export function costOf(tokens: PricedTokens, config: Priced): number | null {
  const cost = found.get(config) ?? costBy(config);
  found.set(config, cost);
  return cost(tokens);
}

function costBy({ name, baseUrl, price }: Priced): Cost {
  if (price !== undefined) return (tokens) => dollarsFor(tokens, price);
  // Everybody on the list is reached by HTTPS, and loading it takes as long as a server's start.
  if (baseUrl.startsWith("http:")) return () => null;
  const listed = ({ inputTokens, cachedInputTokens, cacheWriteTokens = 0, outputTokens }: PricedTokens) =>
    prices().calcPrice(
      {
        input_tokens: inputTokens,
        cache_read_tokens: cachedInputTokens,
        cache_write_tokens: cacheWriteTokens,
        output_tokens: outputTokens,
      },
      name,
      { providerApiUrl: baseUrl },
    );
  const found = listed({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 });
  if (found === null) return () => null;
  // Prices that depend on the time of day, or on anything but tokens, are the list's to compute.
  const { input_mtok: input = 0, output_mtok: output = 0 } = found.model_price;
  const { cache_read_mtok: cached = input, cache_write_mtok: written = input } = found.model_price;
  if (Array.isArray(found.model.prices) || found.total_price > 0)
    return (tokens) => listed(tokens)?.total_price ?? null;
  return (tokens) =>
    dollarsFor(tokens, {
      inputPerMillion: rateFor(input, tokens.inputTokens),
      cachedInputPerMillion: rateFor(cached, tokens.inputTokens),
      cacheWritePerMillion: rateFor(written, tokens.inputTokens),
      outputPerMillion: rateFor(output, tokens.inputTokens),
    });
}

/** The price of a million tokens in a request of this size. */
function rateFor(price: ListedPrice, inputTokens: number): number {
  if (typeof price === "number") return price;
  return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base;
}

function dollarsFor(tokens: PricedTokens, price: NonNullable<ModelConfig["price"]>): number {
  const cached = Math.min(tokens.cachedInputTokens, tokens.inputTokens);
  const written = Math.min(tokens.cacheWriteTokens ?? 0, tokens.inputTokens - cached);
  const fresh = tokens.inputTokens - cached - written;
  const dollars =
    fresh * price.inputPerMillion +
    cached * (price.cachedInputPerMillion ?? price.inputPerMillion) +
    written * (price.cacheWritePerMillion ?? price.inputPerMillion) +
    tokens.outputTokens * price.outputPerMillion;
  return dollars / 1_000_000;
}

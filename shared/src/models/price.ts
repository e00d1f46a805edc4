import { createRequire } from "node:module";
import type { Usage } from "../core/model.ts";
import type { ModelConfig } from "./config.ts";

type Prices = typeof import("@pydantic/genai-prices");

/**
 * Loaded when a price is first needed: the list is a fifth of the code that a server would load
 * before it listens.
 */
const prices = () => createRequire(import.meta.url)("@pydantic/genai-prices") as Prices;

type Tokens = Pick<Usage, "inputTokens" | "cachedInputTokens" | "outputTokens">;
type ListedPrice = number | { readonly base: number; readonly tiers: readonly { start: number; price: number }[] };
type Priced = Pick<ModelConfig, "name" | "baseUrl" | "price">;
type Cost = (tokens: Tokens) => number | null;

const found = new WeakMap<Priced, Cost>();

/**
 * The cost of a call in US dollars: by the configured price, otherwise by the list price of the
 * provider at `baseUrl`, otherwise null. A known name at an unknown address has no price, since its
 * server may charge anything. The list is searched once for each configuration.
 */
export function costOf(tokens: Tokens, config: Priced): number | null {
  const cost = found.get(config) ?? costBy(config);
  found.set(config, cost);
  return cost(tokens);
}

function costBy({ name, baseUrl, price }: Priced): Cost {
  if (price !== undefined) return (tokens) => dollarsFor(tokens, price);
  const listed = ({ inputTokens, cachedInputTokens, outputTokens }: Tokens) =>
    prices().calcPrice(
      { input_tokens: inputTokens, cache_read_tokens: cachedInputTokens, output_tokens: outputTokens },
      name,
      { providerApiUrl: baseUrl },
    );
  const found = listed({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 });
  if (found === null) return () => null;
  // Prices that depend on the time of day, or on anything but tokens, are the list's to compute.
  const { input_mtok: input = 0, cache_read_mtok: cached = input, output_mtok: output = 0 } = found.model_price;
  if (Array.isArray(found.model.prices) || found.total_price > 0)
    return (tokens) => listed(tokens)?.total_price ?? null;
  return (tokens) =>
    dollarsFor(tokens, {
      inputPerMillion: rateFor(input, tokens.inputTokens),
      cachedInputPerMillion: rateFor(cached, tokens.inputTokens),
      outputPerMillion: rateFor(output, tokens.inputTokens),
    });
}

/** The price of a million tokens in a request of this size. */
function rateFor(price: ListedPrice, inputTokens: number): number {
  if (typeof price === "number") return price;
  return price.tiers.findLast(({ start }) => inputTokens > start)?.price ?? price.base;
}

function dollarsFor(tokens: Tokens, price: NonNullable<ModelConfig["price"]>): number {
  const cached = Math.min(tokens.cachedInputTokens, tokens.inputTokens);
  const fresh = tokens.inputTokens - cached;
  const dollars =
    fresh * price.inputPerMillion +
    cached * (price.cachedInputPerMillion ?? price.inputPerMillion) +
    tokens.outputTokens * price.outputPerMillion;
  return dollars / 1_000_000;
}

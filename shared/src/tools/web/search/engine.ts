/** What is looked for. `lang` is a language tag ("en", "zh-CN"), `country` two letters. */
export type SearchQuery = {
  readonly query: string;
  readonly count: number;
  readonly lang: string;
  readonly country: string;
};

/** A hit as an engine gives it: plain text, without markup. */
export type Hit = { readonly title: string; readonly url: string; readonly description: string };

/** Somewhere that can be asked for pages. */
export interface SearchEngine {
  readonly name: EngineName;
  /**
   * The hits in the engine's order, as many as it cares to give. Rejects with an `AppError` that
   * says what went wrong.
   */
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly Hit[]>;
}

/**
 * The engines by name, in the order they are asked unless configured otherwise: those with a key or
 * address of one's own first.
 */
export const engineNames = [
  "searxng",
  "brave",
  "tavily",
  "exa",
  "serper",
  "google_cse",
  "duckduckgo",
  "bing",
  "baidu",
  "google",
] as const;

/** A name of the list above. */
export type EngineName = (typeof engineNames)[number];

/** A search. `lang` is a language tag ("en", "zh-CN"), `country` two letters. */
export type SearchQuery = {
  readonly query: string;
  readonly count: number;
  readonly lang: string;
  readonly country: string;
};

/** A hit as an engine returns it: plain text, without markup. */
export type Hit = { readonly title: string; readonly url: string; readonly description: string };

/** A source that can be searched for pages. */
export interface SearchEngine {
  readonly name: EngineName;
  /**
   * The hits in the engine's order, as many as it returns. Rejects with an `AppError` that says
   * what went wrong.
   */
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly Hit[]>;
}

/** The engines by name, in the default order: those that need their own key or address first. */
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

/** The name of a search engine. */
export type EngineName = (typeof engineNames)[number];

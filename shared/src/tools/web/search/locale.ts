import type { SearchQuery } from "./engine.ts";

/** The language alone: "zh" for "zh-CN". */
export function languageOf({ lang }: SearchQuery): string {
  return lang.split(/[-_]/)[0]?.toLowerCase() ?? "en";
}

/** Language and country as one tag: "en-US". */
export function localeOf(query: SearchQuery): string {
  return `${languageOf(query)}-${query.country.toUpperCase()}`;
}

/** Chinese in the script its country writes: "zh-CN" or "zh-TW"; any other language unchanged. */
export function languageWithScript(query: SearchQuery): string {
  const language = languageOf(query);
  if (language !== "zh") return language;
  return /hant|tw|hk|mo/i.test(query.lang) || ["tw", "hk", "mo"].includes(query.country.toLowerCase())
    ? "zh-TW"
    : "zh-CN";
}

/**
 * The country's English name in lower case: "united states"; undefined where there is no such
 * country.
 */
export function countryName({ country }: SearchQuery): string | undefined {
  // Unicode's code for a region that is not known, which has a name too.
  if (country.toUpperCase() === "ZZ") return undefined;
  try {
    const names = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
    return names.of(country.toUpperCase())?.toLowerCase();
  } catch {
    return undefined;
  }
}

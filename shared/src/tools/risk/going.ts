import type { Reach } from "../../core/tools/reach.ts";
import type { Judgement } from "./acts.ts";
import type { ScopeToJudge } from "./judge-action.ts";
import { quoted } from "./judge-action.ts";
import { linksIn } from "./links.ts";
import { isAffordable, type Price, priceOf, priceOfQuery } from "./scope.ts";

/** The addresses that a call opens, as its tool declares them. */
export function addressesOf({ opens }: Reach, input: unknown): readonly string[] {
  if (opens === "named") return textsIn(input).flatMap((text) => linksIn(unescaped(text)));
  return opens?.(input) ?? [];
}

/** Every text in a value, the names of its fields included. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner)]);
}

/** A text that may be JSON itself, where escapes stand before an address or in it. */
function unescaped(text: string): string {
  return text.replaceAll("\\/", "/").replaceAll(/\\./g, " ");
}

/**
 * Judges a call's addresses and question: returns what they cost, or why a person should decide.
 */
export function judgeGoing(reach: Reach, input: unknown, scope: ScopeToJudge): Judgement {
  if (scope === undefined) return {};
  const urls = addressesOf(reach, input).flatMap((text) => {
    const url = URL.parse(text);
    return url === null || (!scope.private && reach.free?.(text) === true)
      ? []
      : [{ text, price: priceOf(url, scope) }];
  });
  const foreign = urls.filter(({ price }) => price === undefined);
  const more = foreign.length > 1 ? ` and ${foreign.length - 1} more addresses` : "";
  if (foreign[0] !== undefined) return { risk: `Open ${quoted(foreign[0].text)}${more}, which you did not name` };
  const asked = reach.asks?.(input);
  const search = asked === undefined ? undefined : priceOfQuery(asked, scope);
  if (asked !== undefined && search === undefined)
    return { risk: `Ask search engines for ${quoted(asked)}, in words that are not all yours` };
  return { prices: [...urls.map(({ price }) => price), search].filter((price) => price !== undefined) };
}

/**
 * Why a person should decide about something at these prices; undefined when the task can afford
 * it.
 */
export function judgePrices(prices: readonly Price[], scope: ScopeToJudge): string | undefined {
  if (scope === undefined || isAffordable(prices, scope)) return undefined;
  const sites = [...new Set(prices.filter(({ bits }) => bits > 0).map(({ site }) => site))];
  return `Go on at ${sites.map(quoted).join(", ")}, which you did not name; so many choices there could carry data away`;
}

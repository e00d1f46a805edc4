import * as z from "zod";
import { pageAddress } from "../browser/act/page-address.ts";
import {
  type Judgement,
  judgeClickAt,
  judgeClickOn,
  judgeDialog,
  judgeDrag,
  judgeForm,
  judgeInput,
  judgeKeys,
  judgePointing,
  judgeUpload,
  type Situation,
} from "./acts.ts";
import type { ScopeToJudge } from "./judge-deed.ts";
import { linksIn } from "./links.ts";
import { addressesNamedIn } from "./named-hosts.ts";
import { quoted } from "./quoted.ts";
import { isAffordable, type Price, priceOf, priceOfQuery } from "./scope.ts";

/** What calls of one tool are judged by: the addresses they would open, what they would ask search engines, the texts they would write, and the act. */
export type Rule = {
  readonly opens?: (input: unknown) => readonly string[];
  readonly asks?: (input: unknown) => string;
  readonly writes?: (input: unknown) => string;
  readonly judge?: (input: unknown, situation: Situation) => Promise<Judgement>;
  /** Whether what comes back may be led by pages that were read elsewhere. */
  readonly reads?: boolean;
  /** Whether what the user sent may lead to such a call, so that none is the agent's own choice, even before anything was read. */
  readonly led?: boolean;
  /** Whether addresses on hosts where strangers keep repositories may be opened, as long as nothing is known that not everybody may. */
  readonly forges?: boolean;
};

const address = z.looseObject({ url: pageAddress });
const addresses = z.looseObject({
  url: z.string().optional(),
  urls: z.union([z.string(), z.array(z.string())]).optional(),
});
const typing = z.looseObject({ text: z.string() });
const form = z.looseObject({ fields: z.array(z.looseObject({ value: z.unknown() })) });
const dialog = z.looseObject({ text: z.string().optional() });
const query = z.looseObject({ query: z.string(), lang: z.string().optional(), country: z.string().optional() });
const lent = z.looseObject({ task: z.string() });

const opensOne: Rule = { opens: (input) => [address.safeParse(input).data?.url ?? []].flat() };
const asksFor: Rule = { asks: queryOf, writes: queryOf };

/** The rules by tool; a tool without one is not risky. */
export const rules: Readonly<Record<string, Rule>> = {
  browser_go_to_url: opensOne,
  browser_open_tab: opensOne,
  browser_download: opensOne,
  browser_web_search: asksFor,
  web_search: asksFor,
  // Where another agent is sent, this one goes.
  delegate: { opens: (input) => addressesNamedIn(lent.safeParse(input).data?.task ?? ""), reads: true },
  clone_repository: { ...opensOne, reads: true, led: true, forges: true },
  web_fetch: {
    opens(input) {
      const parsed = addresses.safeParse(input).data;
      return [parsed?.url ?? [], parsed?.urls ?? []].flat().map((url) => url.trim());
    },
  },
  browser_click_element: { judge: judgeClickOn },
  browser_click_at: { judge: judgeClickAt },
  browser_hover: { judge: judgePointing },
  browser_select_dropdown_option: { judge: judgePointing },
  browser_drag: { judge: judgeDrag },
  browser_input_text: { writes: (input) => typing.safeParse(input).data?.text ?? "", judge: judgeInput },
  browser_fill_form: {
    writes: (input) => (form.safeParse(input).data?.fields ?? []).map(({ value }) => String(value)).join("\n"),
    judge: judgeForm,
  },
  browser_send_keys: { judge: judgeKeys },
  browser_upload: { judge: judgeUpload },
  browser_handle_dialog: { writes: (input) => dialog.safeParse(input).data?.text ?? "", judge: judgeDialog },
};

/** Tools of MCP servers go where the addresses they are given lead. */
export const mountedRule: Rule = {
  opens: (input) => linksIn(JSON.stringify(input ?? "").replaceAll("\\", " ")),
};

/** A language of search results in its usual short form says nothing else. */
const usualLanguage = /^[a-z]{2,3}(?:[-_][a-z]{2,4})?$/i;

/** What search engines get to read. */
function queryOf(input: unknown): string {
  const { query: words = "", lang = "" } = query.safeParse(input).data ?? {};
  return usualLanguage.test(lang) ? words : `${words} ${lang}`.trim();
}

/** What a call's addresses and question come to: what they cost, or why a person should decide. */
export function judgeGoing(
  rule: Rule,
  input: unknown,
  scope: ScopeToJudge,
  isForge: (url: string) => boolean,
): Judgement {
  if (scope === undefined) return {};
  const urls = (rule.opens?.(input) ?? []).flatMap((text) => {
    const url = URL.parse(text);
    return url === null || (rule.forges && !scope.private && isForge(text))
      ? []
      : [{ text, price: priceOf(url, scope) }];
  });
  const foreign = urls.filter(({ price }) => price === undefined);
  const more = foreign.length > 1 ? ` and ${foreign.length - 1} more addresses` : "";
  if (foreign[0] !== undefined) return { risk: `Open ${quoted(foreign[0].text)}${more}, which you did not name` };
  const asked = rule.asks?.(input);
  const search = asked === undefined ? undefined : priceOfQuery(asked, scope);
  if (asked !== undefined && search === undefined)
    return { risk: `Ask search engines for ${quoted(asked)}, in words that are not all yours` };
  return { prices: [...urls.map(({ price }) => price), search].filter((price) => price !== undefined) };
}

/** Why a person should decide about something that costs this; undefined where the task can afford it. */
export function judgePrices(prices: readonly Price[], scope: ScopeToJudge): string | undefined {
  if (scope === undefined || isAffordable(prices, scope)) return undefined;
  const sites = [...new Set(prices.filter(({ bits }) => bits > 0).map(({ site }) => site))];
  return `Go on at ${sites.map(quoted).join(", ")}, which you did not name; so many choices there could carry data away`;
}

import { isText } from "./derived.ts";
import type { Oddity } from "./oddity.ts";

const lastWord = /(?:^|[_\s.-])(?:id|key|no|nr|number|code|uuid|ref|reference|sku)$|编号|订单号/i;
const lastCapital = /[a-z](?:Id|ID|Key|No|Nr|Number|Code|Ref)$/;

/** Whether a column of this name holds what rows are known by. */
export function isKey(name: string): boolean {
  return lastWord.test(name) || lastCapital.test(name);
}

const code = "regexp_full_match(trim(c), '[A-Za-z]{1,8}[\\s_./#-]*[0-9]+')";
const form = "regexp_replace(c, '[0-9]+', '0')";
const letters = "lower(regexp_replace(c, '[^A-Za-z]', '', 'g'))";

/** Codes such as INV00017 that are written in more ways than they have letters: joins lose rows. */
export const codeForms: Oddity = {
  looks: (column) =>
    isText(column) && isKey(column.name)
      ? {
          filled: "count(c)",
          codes: `count(*) FILTER (${code})`,
          forms: `count(DISTINCT ${form})`,
          kinds: `count(DISTINCT ${letters})`,
          firstExample: `arg_min(c, ${form})`,
          lastExample: `arg_max(c, ${form})`,
        }
      : undefined,
  say(seen, example) {
    if (seen("filled") === 0 || seen("codes") < seen("filled") || seen("forms") <= seen("kinds")) return undefined;
    return `codes that are written in ${seen("forms")} ways, such as '${example("firstExample")}' and '${example("lastExample")}': write them one way before a join`;
  },
};

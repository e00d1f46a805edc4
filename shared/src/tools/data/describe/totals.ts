import { counted } from "../../../core/text/counted.ts";
import { isText } from "./derived.ts";
import type { Oddity } from "./oddity.ts";

const before = "grand|sub|sous|ara|genel|gesamt|zwischen|end";
const words =
  "totals?|totale|totaux|sum|summe|gesamt|insgesamt|suma|razem|celkem|spolu|összesen|toplam|totalt|summa|итого|всего|合计|总计|小计|合計|総計|小計|합계";
const isTotal = `regexp_full_match(lower(trim(c)), '(?:(?:${before})[ -]?)?(?:${words})(?:[ :：].*)?')`;

/** Rows that add up others, as reports have them: whoever sums a column counts everything twice. */
export const totalRows: Oddity = {
  looks: (column) =>
    isText(column)
      ? { filled: "count(c)", totals: `count(*) FILTER (${isTotal})`, totalExample: `min(c) FILTER (${isTotal})` }
      : undefined,
  say(seen, example) {
    const totals = seen("totals");
    if (totals === 0 || totals === seen("filled")) return undefined;
    return `${counted(totals, "row")} may be the total of others, such as '${example("totalExample")}': left in, they count twice`;
  },
};

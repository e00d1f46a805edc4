import { isTimeType } from "../database/column-types.ts";
import type { Oddity } from "./oddity.ts";

const words: Readonly<Record<string, string>> = { d: "day first", m: "month first", y: "year first" };
const orders = [
  ["d", "m", "y"],
  ["m", "d", "y"],
  ["y", "m", "d"],
];

/** Dates that could have been read in another order of day, month and year. */
export const uncertainOrder: Oddity = {
  looks({ type, dateForm }) {
    if (!isTimeType(type) || dateForm === undefined) return undefined;
    const others = otherForms(dateForm).map((form, at) => [`as${at}`, `count(*) FILTER (${misfits(dateForm, form)})`]);
    return others.length === 0 ? undefined : { filled: "count(c)", ...Object.fromEntries(others) };
  },
  say(seen, _, { dateForm = "" }) {
    const fitting = otherForms(dateForm).filter((_form, at) => seen("filled") > 0 && seen(`as${at}`) === 0);
    if (fitting.length === 0) return undefined;
    const others = fitting.map((form) => `${words[orderOf(form)[0] ?? ""]} (${option(form)})`);
    return `read ${words[orderOf(dateForm)[0] ?? ""]} (${dateForm}), but each value could also be ${others.join(" or ")}`;
  },
};

/** An option of `read_csv`: a time of day has its own. */
function option(form: string): string {
  return `${form.includes("%H") ? "timestampformat" : "dateformat"} = '${form}'`;
}

/** A year of four digits stays where it is, so only day and month change places. */
function misfits(form: string, other: string): string {
  if (form.includes("%Y")) return "date_part('DAY', c) > 12";
  return `c IS NOT NULL AND try_strptime(strftime(c, '${form}'), '${other}') IS NULL`;
}

/** Day, month and year as a form has them in order. */
function orderOf(form: string): string[] {
  return [...form.matchAll(/%-?([dmyY])/g)].map(([, part = ""]) => part.toLowerCase());
}

/**
 * The same form in the other orders that people write: a year of four digits is no day, and with
 * points the day comes first.
 */
function otherForms(form: string): string[] {
  const own = orderOf(form);
  if (own.length !== 3) return [];
  const parts = [...form.matchAll(/%-?[dmyY]/g)].map(([part]) => part);
  return orders
    .filter((order) => order.join() !== own.join())
    .filter((order) => !form.includes("%Y") || order.indexOf("y") === own.indexOf("y"))
    .filter(([first]) => !/%[dmyY]\./.test(form) || first === "d")
    .map((order) => {
      let at = 0;
      return form.replaceAll(/%-?[dmyY]/g, () => parts[own.indexOf(order[at++] ?? "")] ?? "");
    });
}

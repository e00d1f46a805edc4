import { expect, test } from "bun:test";
import { rule, ruleReason, valueAt } from "./rule.ts";

const orders = { type: "file", sha256: "a", name: "Orders.CSV", mediaType: "text/csv", size: 3 } as const;
const data = { type: "data", data: { order: { items: [{ kind: "bug" }], total: 12 }, empty: null } } as const;
const facts = { goal: "Please fix the C++ crash in Größe.ts", files: [orders, data] };
const reason = (given: object) => ruleReason(rule.parse(given), facts);

test("a rule matches words, expressions, files and data, and says which condition matched", () => {
  expect(reason({ keywords: ["invoice", "CRASH"] })).toBe(`The task says "CRASH".`);
  expect(reason({ keywords: ["c++"] })).toBe(`The task says "c++".`);
  expect(reason({ keywords: ["größe"] })).toBe(`The task says "größe".`);
  expect(reason({ regex: "fix .* crash" })).toBe("The task fits fix .* crash.");
  expect(reason({ file: "*.csv" })).toBe("Orders.CSV fits *.csv.");
  expect(reason({ file: "text/*" })).toBe("Orders.CSV is text/csv.");
  expect(reason({ data: { path: "$.order.items[0].kind", equals: "bug" } })).toBe('$.order.items[0].kind is "bug".');
  expect(reason({ data: { path: "order.total", above: 10, below: 13 } })).toBe("order.total is 12.");
  expect(reason({ data: { path: "$.empty" } })).toBe("$.empty is null.");
});

test("a rule does not match in part, by part of a word, or by missing data", () => {
  for (const given of [
    { keywords: ["rash", "fi"] },
    { regex: "^crash" },
    { file: "*.pdf" },
    { data: { path: "$.order.total", equals: "12" } },
    { data: { path: "$.order.total", above: 12 } },
    { data: { path: "$.order.missing" } },
    { data: { path: "$.constructor" } },
    { keywords: ["crash"], file: "*.pdf" },
  ])
    expect([given, reason(given)]).toEqual([given, undefined]);
});

test("a rule without conditions, or one that cannot be parsed, is refused", () => {
  for (const given of [{}, { regex: "(" }, { regex: "(?=x)" }, { data: { path: "$.a[x" } }, { unknown: 1 }])
    expect([given, rule.safeParse(given).success]).toEqual([given, false]);
});

test("an expression that would backtrack for ever elsewhere takes no time", () => {
  const started = performance.now();
  const goal = `${"a".repeat(5_000)}!`;
  expect(ruleReason(rule.parse({ regex: "^(a+)+$" }), { goal, files: [] })).toBeUndefined();
  expect(performance.now() - started).toBeLessThan(30_000);
});

test("a path can name the whole data, fields and list positions", () => {
  expect(valueAt({ a: [1, { b: 0 }] }, "$")).toEqual({ a: [1, { b: 0 }] });
  expect(valueAt({ a: [1, { b: 0 }] }, "$.a[1].b")).toBe(0);
  expect(valueAt([["x"]], "[0][0]")).toBe("x");
});

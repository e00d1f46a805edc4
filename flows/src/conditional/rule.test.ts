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

const link = { type: "url", url: "https://a.example/x/Plan.PDF", mediaType: "Application/PDF" } as const;
const untyped = { type: "url", url: "https://a.example/y/notes.txt" } as const;

test.each([
  [{ file: "*.CSV" }, true],
  [{ file: "plan.pdf" }, true],
  [{ file: "application/*" }, true],
  [{ file: "notes.txt" }, true],
  [{ file: "https*" }, false],
  [{ file: "Text/CSV" }, true],
  [{ data: { path: "$.order.total", below: 12 } }, false],
  [{ data: { path: "$.order.total", below: 12.5 } }, true],
  [{ data: { path: "$.order.total", above: 11.5 } }, true],
  [{ data: { path: "$.order.total", above: 13, below: 14 } }, false],
  [{ data: { path: "$.order.total", above: 11, below: 12 } }, false],
  [{ data: { path: "$.text", above: 1 } }, false],
  [{ data: { path: "$.text", below: 100 } }, false],
  [{ data: { path: " $.text ", equals: "7" } }, true],
  [{ data: { path: "$.empty.x" } }, false],
  [{ data: { path: "$.text.length" } }, false],
  [{ data: { path: "$.order.total", equals: 12, above: 12 } }, false],
  [{ data: { path: "$.order.total", equals: 11, above: 10 } }, false],
])("the rule %j matches: %p", (given, matches) => {
  const more = { type: "data", data: { text: "7", order: { total: 12 }, empty: null } } as const;
  const parsed = rule.parse(given);
  const reason = ruleReason(parsed, { goal: "", files: [{ type: "text", text: "x" }, orders, link, untyped, more] });
  expect(reason !== undefined).toBe(matches);
});

test("of several conditions each must hold, and the reasons are given in order", () => {
  const all = { keywords: ["crash"], regex: "fix", file: "*.csv", data: { path: "$.order.total" } };
  expect(reason(all)).toBe('The task says "crash". The task fits fix. Orders.CSV fits *.csv. $.order.total is 12.');
  for (const wrong of [{ keywords: ["x"] }, { regex: "x{9}" }, { file: "x" }, { data: { path: "$.x" } }])
    expect([wrong, reason({ ...all, ...wrong })]).toEqual([wrong, undefined]);
});

test("rules read the first 100,000 characters of a task, and show 100 of a value", () => {
  const long = (characters: number) => ({ goal: `${" ".repeat(characters - 4)}word`, files: [] });
  expect(ruleReason(rule.parse({ keywords: ["word"] }), long(100_000))).toBeDefined();
  expect(ruleReason(rule.parse({ keywords: ["word"] }), long(100_001))).toBeUndefined();
  const files = [{ type: "data", data: { a: "x".repeat(200) } } as const];
  expect(ruleReason(rule.parse({ data: { path: "a" } }), { goal: "", files })).toBe(`a is "${"x".repeat(99)}.`);
});

test("the first data that has what the rule wants is enough, whatever came before it", () => {
  const files = [{ a: 1 }, { b: 1 }, { a: 5 }].map((value) => ({ type: "data", data: value }) as const);
  expect(ruleReason(rule.parse({ data: { path: "$.a", above: 4 } }), { goal: "", files })).toBe("$.a is 5.");
});

import { expect, test } from "bun:test";
import { type Heading, outlineText } from "./outline.ts";

const headings = (...of: readonly (readonly [level: number, title: string])[]): Heading[] =>
  of.map(([level, title], at) => ({ level, title, place: `page ${at + 1}` }));
const many = (level: number, count: number) =>
  Array.from({ length: count }, (_, at) => [level, `Heading number ${at}`] as const);

test("the headings are told with where they begin, each under the one that it belongs to", async () => {
  expect(await outlineText(headings([2, "A\n b"], [3, "B"], [2, "C"]))).toBe(
    "- A b: page 1\n  - B: page 2\n- C: page 3\n",
  );
  expect(await outlineText([])).toBe("");
});

test("only as many levels are told as there is room for", async () => {
  const deep = await outlineText(headings([1, "One"], ...many(2, 9), [1, "Two"], [1, "Three"], ...many(3, 90)));
  expect(deep.split("\n").length - 1).toBe(12);
  const flat = await outlineText(headings([1, "A title"], ...many(2, 90)));
  expect(flat).toStartWith("- A title: page 1\n  - Heading number 0: page 2\n");
  expect(flat).toMatch(/\n- and \d\d more\n$/);
  expect(flat.length).toBeLessThan(1_600);
});

test("a place is worked out only for what is told, and what has none is told without", async () => {
  const asked: string[] = [];
  const far = Array.from(
    { length: 200 },
    (_, at): Heading => ({
      level: 1,
      title: `H ${at}`,
      place: async () => {
        asked.push(`${at}`);
        return at === 0 ? undefined : `page ${at}`;
      },
    }),
  );
  expect(await outlineText(far)).toStartWith("- H 0\n- H 1: page 1\n");
  expect(asked.length).toBeLessThan(150);
});

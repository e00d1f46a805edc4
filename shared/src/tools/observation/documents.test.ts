import { expect, spyOn, test } from "bun:test";
import type { Frame } from "playwright";
import { allDocuments, readDocuments } from "./documents.ts";
import * as looking from "./looking.ts";

type FrameForTest = { readonly name: string; readonly inner: readonly (FrameForTest | undefined)[] };

const frame = (name: string, ...inner: readonly (FrameForTest | undefined)[]): FrameForTest => ({ name, inner });
const iframe = (ref: number | undefined) => ({ role: "iframe", name: "", ref, box: [0, 0, 9, 9] });

/**
 * Reads a frame and those in it, of which some cannot be read; the orders that each was looked at
 * with.
 */
async function read(top: FrameForTest, { fails = "", find }: { fails?: string; find?: string } = {}) {
  const orders: unknown[] = [];
  using _look = spyOn(looking, "lookIn").mockImplementation((async (of: FrameForTest, order: object, ms: number) => {
    orders.push([of.name, order, ms]);
    if (of.name === fails) throw new Error("The frame is gone.");
    const nested = { role: "group", name: "", box: [0, 0, 9, 9], children: of.inner.map((_, n) => iframe(n + 1)) };
    return { nodes: ["text", nested, iframe(undefined)], measure: {}, unseen: [], drawn: [], crowded: false };
  }) as never);
  using _element = spyOn(looking, "elementNumbered").mockImplementation((async (of: FrameForTest, number: number) => {
    const inner = of.inner[number - 1];
    return inner === undefined ? null : { contentFrame: async () => inner };
  }) as never);
  const document = await readDocuments(top as unknown as Frame, { timeoutMs: 10_000, find });
  const names = allDocuments(document).map((one) => (one.frame as unknown as FrameForTest).name);
  return { document, names, orders };
}

test("a page is read with the frames in it and in those, each in its time and only the page with its drawings", async () => {
  const { document, names, orders } = await read(frame("page", frame("a", frame("deep")), frame("b")), {
    find: "Total SUM",
  });
  expect(names).toEqual(["page", "a", "deep", "b"]);
  expect([...document.inner.keys()]).toEqual([1, 2]);
  expect(orders.toSorted()).toEqual([
    ["a", { maxDrawn: 0, find: "total sum" }, 3_000],
    ["b", { maxDrawn: 0, find: "total sum" }, 3_000],
    ["deep", { maxDrawn: 0, find: "total sum" }, 3_000],
    ["page", { maxDrawn: 90, find: "total sum" }, 10_000],
  ]);
});

test("a frame that is gone or does not answer is left out, and the page is still read", async () => {
  const page = frame("page", frame("a"), undefined, frame("b"));
  const { document, names } = await read(page, { fails: "a" });
  expect([names, [...document.inner.keys()]]).toEqual([["page", "b"], [3]]);
  await expect(read(page, { fails: "page" })).rejects.toThrow("The frame is gone.");
});

test("of very many frames the first twelve are read, however they are nested", async () => {
  const many = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => frame(`${prefix}${n}`));
  expect((await read(frame("page", ...many(15, "a")))).names).toHaveLength(13);
  const nested = await read(frame("page", frame("x", ...many(20, "x")), frame("y", ...many(20, "y"))));
  expect(nested.names).toHaveLength(13);
});

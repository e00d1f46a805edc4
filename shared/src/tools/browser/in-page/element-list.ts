import type { PageElement } from "./dom.ts";

/** Elements of a document by number: an element keeps its number as long as the list lives. It is kept in the page, where only we can reach it. */
export type ElementList = {
  readonly numbers: { get(key: object): number | undefined; set(key: object, to: number): unknown };
  readonly elements: PageElement[];
};

/** Runs in the page: an empty list. */
export function newElementList(): ElementList {
  return { numbers: new WeakMap<object, number>(), elements: [] };
}

/** Runs in the page, on a list: the element with a number. */
export function listedElement({ elements }: ElementList, number: number): PageElement | undefined {
  return elements[number];
}

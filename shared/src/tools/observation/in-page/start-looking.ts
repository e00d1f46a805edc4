import type { AriaNode } from "../aria-node.ts";
import { allWords } from "./all-words.ts";
import type { PageElement } from "./dom.ts";
import { nameAround } from "./drawn-element.ts";
import { openNumbers } from "./element-numbers.ts";
import { fillSecret, type SecretOrder, type SecretOutcome } from "./fill-secret.ts";
import { type DrawnElement, findDrawnElements } from "./find-drawn-elements.ts";
import { findUnseenText } from "./find-unseen-text.ts";
import { measurePage, type PageMeasure } from "./measure-page.ts";
import { openNames } from "./outline/names.ts";
import { outlineOf } from "./outline/outline.ts";
import { openRoles } from "./outline/roles.ts";
import { openStates } from "./outline/states.ts";
import { openPalette } from "./palette.ts";
import { openReader } from "./reader.ts";
import { openVisibility } from "./visibility.ts";

/** What a document shows. */
export type DocumentLook = {
  readonly measure: PageMeasure;
  readonly nodes: readonly (string | AriaNode)[];
  readonly unseen: readonly string[];
  readonly drawn: readonly DrawnElement[];
  /** Whether the document has so many elements that those far from the window were left out. */
  readonly crowded: boolean;
};

/** An element of a document: its number, and which of the frame's documents it is in. */
export type NumberedPlace = { readonly number: number; readonly document: number };

/** How to look at a document. */
export type LookOrder = {
  /** The most elements to tell that are drawn without words. */
  readonly maxDrawn: number;
  /** A text in small letters: what has it is shown even far from the window. */
  readonly find?: string | undefined;
};

/** An element of a document, as it is now. */
export type ElementSelf = {
  readonly origin: number;
  readonly tag: string;
  readonly type: string;
  /** As an outline has it; undefined for an element that none has. */
  readonly node?: AriaNode | undefined;
  /** What the nearest element around it is called; "" when none near has a name. */
  readonly within?: string;
};

/**
 * Runs in the page, once in each document: creates the functions that look at it. `formats` is how
 * fields of some types are written.
 */
export function startLooking(formats: Readonly<Record<string, string>>) {
  const numbers = openNumbers();
  const origin = Math.random();
  const open = () => {
    const reader = openReader();
    const roles = openRoles(reader);
    return { reader, roles, names: openNames(reader, roles), states: openStates(reader, formats), numbers };
  };
  return {
    look({ maxDrawn, find }: LookOrder): DocumentLook {
      const pageNow = open();
      const { reader } = pageNow;
      const body = reader.body();
      const none = { nodes: [], visited: new Set<PageElement>(), isCut: false };
      const { nodes, visited, isCut } = body === null ? none : outlineOf(pageNow, body, { most: 10_000, find });
      return {
        measure: measurePage(reader, origin),
        nodes,
        unseen: findUnseenText(reader, openVisibility(reader, openPalette()), isCut ? visited : undefined),
        drawn: maxDrawn === 0 ? [] : findDrawnElements(pageNow, maxDrawn),
        crowded: isCut,
      };
    },
    unseen(): string[] {
      const reader = openReader();
      return findUnseenText(reader, openVisibility(reader, openPalette()));
    },
    /** What has a number; undefined when it is gone, or has another role or name now. */
    describe(number: number): ElementSelf | undefined {
      const found = numbers.at(number);
      if (found === undefined || !found.element.isConnected) return undefined;
      const { element, role, name } = found;
      const pageNow = open();
      const { reader, roles, names } = pageNow;
      if ((roles.of(element) || "generic") !== role) return undefined;
      if (role !== "iframe" && names.of(element).name !== name) return undefined;
      const { nodes } = outlineOf(pageNow, element, { most: 1_000, find: undefined });
      const node = nodes.find((one) => typeof one === "object" && one.ref === number);
      const tag = reader.tag(element).toLowerCase();
      const type = String(element.type ?? "").toLowerCase();
      return { origin, tag, type, ...(typeof node === "object" && { node }), within: nameAround(reader, element) };
    },
    element: (number: number) => numbers.at(number)?.element,
    /** Fills a field of this very document with a secret. */
    secret({ number, document, ...order }: SecretOrder & NumberedPlace): SecretOutcome {
      const found = document === origin ? numbers.at(number) : undefined;
      return found === undefined ? { is: "changed" } : fillSecret(found.element, order);
    },
    words: () => allWords(openReader()),
  };
}

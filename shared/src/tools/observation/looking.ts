import type { ElementHandle, Frame } from "playwright";
import { within } from "../../core/async/within.ts";
import { callIsolated, type IsolatedProgram, isolatedElement } from "../../machine/browser-process/isolated-world.ts";
import * as allWords from "./in-page/all-words.ts";
import * as drawnElement from "./in-page/drawn-element.ts";
import * as drawnGrid from "./in-page/drawn-grid.ts";
import * as elementNumbers from "./in-page/element-numbers.ts";
import type { SecretOrder, SecretOutcome } from "./in-page/fill-secret.ts";
import * as fillSecret from "./in-page/fill-secret.ts";
import * as findDrawnElements from "./in-page/find-drawn-elements.ts";
import * as findUnseenText from "./in-page/find-unseen-text.ts";
import * as isClipped from "./in-page/is-clipped.ts";
import * as measurePage from "./in-page/measure-page.ts";
import * as names from "./in-page/outline/names.ts";
import * as outline from "./in-page/outline/outline.ts";
import * as outlineNode from "./in-page/outline/outline-node.ts";
import * as roles from "./in-page/outline/roles.ts";
import * as states from "./in-page/outline/states.ts";
import * as palette from "./in-page/palette.ts";
import * as reader from "./in-page/reader.ts";
import { type DocumentLook, type ElementSelf, type LookOrder, startLooking } from "./in-page/start-looking.ts";
import * as visibility from "./in-page/visibility.ts";

/**
 * The modules whose functions run in the page. They may use each other's functions, and no other
 * value.
 */
const modules: readonly object[] = [
  allWords,
  drawnElement,
  drawnGrid,
  elementNumbers,
  fillSecret,
  findDrawnElements,
  findUnseenText,
  isClipped,
  measurePage,
  names,
  outline,
  outlineNode,
  palette,
  reader,
  roles,
  states,
  visibility,
];

const functions = modules.flatMap((module) => Object.values(module)).filter((value) => typeof value === "function");
const source = `(() => { ${[...functions, startLooking].map(String).join("\n")}
  return ${startLooking.name}(${JSON.stringify(states.fieldFormats)}); })()`;
const program: IsolatedProgram = { id: Bun.hash(source).toString(36), source };

const describeMs = 5_000;
const unseenMs = 10_000;

/** Where an element is: in which of a frame's successive documents, and its number there. */
export type ElementPlace = { readonly frame: Frame; readonly origin: number; readonly number: number };

/** What a frame's document shows. */
export function lookIn(frame: Frame, order: LookOrder, timeoutMs: number): Promise<DocumentLook> {
  return callIsolated(frame, program, { name: "look", arg: order, timeoutMs });
}

/** The texts of a document that no person could see. */
export function unseenTextOf(frame: Frame): Promise<string[]> {
  return callIsolated(frame, program, { name: "unseen", timeoutMs: unseenMs });
}

/**
 * Fills a field of the document it was seen in with a secret, or says what keeps it from being
 * filled.
 */
export async function secretInto({ frame, number, origin }: ElementPlace, order: SecretOrder): Promise<SecretOutcome> {
  const arg = { number, document: origin, ...order };
  // Whatever the browser says of a failure may hold what was typed.
  const outcome = callIsolated<SecretOutcome>(frame, program, { name: "secret", arg, timeoutMs: describeMs });
  return (await within(describeMs + 1_000, outcome)) ?? { is: "changed" };
}

/** All that a frame shows as words, and what stands in its open fields. */
export function wordsIn(frame: Frame, timeoutMs: number): Promise<string> {
  return callIsolated(frame, program, { name: "words", timeoutMs });
}

/** The element with a number; undefined when it is gone, or has another role or name now. */
export async function numberedElement(
  frame: Frame,
  number: number,
): Promise<{ readonly handle: ElementHandle; readonly self: ElementSelf } | undefined> {
  const [self, handle] = await Promise.all([
    callIsolated<ElementSelf | undefined>(frame, program, { name: "describe", arg: number, timeoutMs: describeMs }),
    elementNumbered(frame, number),
  ]);
  return self === undefined || handle === null ? undefined : { handle, self };
}

/** The element with a number, whatever it is now; null when it is gone. */
export function elementNumbered(frame: Frame, number: number): Promise<ElementHandle | null> {
  return isolatedElement(frame, program, number);
}

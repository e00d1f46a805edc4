import type { ElementHandle, Frame, JSHandle, Page } from "playwright";
import { AppError } from "../../core/errors.ts";
import type { Browsing } from "../../machine/browser/browser.ts";
import { findElement } from "../observation/elements/find-element.ts";
import type { SnapshotState } from "../observation/elements/snapshot-state.ts";
import type { ActionTarget, PageAction } from "./judge-action.ts";
import { readAction, readMarks } from "./read-action.ts";

type Point = { readonly x: number; readonly y: number };

/**
 * The element of a ref; undefined when the ref is invalid or stale, which the tool that takes it
 * reports.
 */
export async function placeOfRef(
  browsing: Browsing,
  looks: SnapshotState,
  ref: string,
): Promise<ActionTarget | undefined> {
  try {
    const { handle, seen } = await findElement(browsing, looks, ref);
    return { action: await actionOf(handle), url: urlOf(seen.frame), name: seen.name };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** The element that has the focus, also within frames; undefined when none has. */
export function focusedPlace(page: Page): Promise<ActionTarget | undefined> {
  return innermost(page.mainFrame(), (frame) => frame.evaluateHandle(readFocused));
}

/** The element at a point of the window, also within frames. */
export function placeAt(page: Page, point: Point): Promise<ActionTarget | undefined> {
  let at = point;
  return innermost(
    page.mainFrame(),
    (frame) => frame.evaluateHandle(readAt, at),
    async (frame) => {
      // From the corner of the window, however deep the frame is.
      const [box, inset] = await Promise.all([frame.boundingBox(), frame.evaluate(readInset)]);
      at = { x: point.x - (box?.x ?? 0) - inset.x, y: point.y - (box?.y ?? 0) - inset.y };
    },
  );
}

const deepest = 5;

async function innermost(
  frame: Frame,
  pick: (frame: Frame) => Promise<JSHandle>,
  enter: (element: ElementHandle) => Promise<void> = async () => undefined,
): Promise<ActionTarget | undefined> {
  let within = frame;
  for (let depth = 0; depth < deepest; depth++) {
    const element = (await pick(within)).asElement() as ElementHandle | null;
    if (element === null) return undefined;
    const inner = await element.contentFrame();
    if (inner === null) return { action: await actionOf(element), url: urlOf(within) };
    await enter(element);
    within = inner;
  }
  throw new AppError("unsupported", "The page has frames within frames.");
}

async function actionOf(element: ElementHandle): Promise<PageAction> {
  const [read, marks] = await Promise.all([element.evaluate(readAction), element.evaluate(readMarks)]);
  return { ...read, ...marks };
}

/**
 * The address of a frame's document; when it has none, that of the nearest parent frame that has
 * one.
 */
function urlOf(frame: Frame): URL | undefined {
  for (let at: Frame | null = frame; at !== null; at = at.parentFrame()) {
    const url = URL.parse(at.url());
    if (url !== null && /^https?:$/.test(url.protocol)) return url;
  }
  return undefined;
}

interface Root {
  readonly activeElement: Focusable | null;
  elementFromPoint(x: number, y: number): Focusable | null;
}
interface Focusable {
  readonly shadowRoot: Root | null;
}
interface Framing {
  readonly clientLeft: number;
  readonly clientTop: number;
}
declare const document: Root;
declare function getComputedStyle(element: unknown): { readonly paddingLeft: string; readonly paddingTop: string };

/** Runs in a frame. */
function readFocused(): unknown {
  let found = document.activeElement;
  while (found?.shadowRoot?.activeElement) found = found.shadowRoot.activeElement;
  return found;
}

/** Runs in a frame. */
function readAt({ x, y }: Point): unknown {
  let found = document.elementFromPoint(x, y);
  for (let inner = found?.shadowRoot?.elementFromPoint(x, y); inner && inner !== found; ) {
    found = inner;
    inner = found.shadowRoot?.elementFromPoint(x, y);
  }
  return found;
}

/** Runs in a frame: where the document in an inner frame begins, from the corner of its element. */
function readInset(element: Framing): Point {
  const { paddingLeft, paddingTop } = getComputedStyle(element);
  return {
    x: element.clientLeft + Number.parseFloat(paddingLeft),
    y: element.clientTop + Number.parseFloat(paddingTop),
  };
}

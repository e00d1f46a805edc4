import type { ElementHandle, Page } from "playwright";
import { bringNear, labelNumbered, type Near } from "../../observation/in-page/bring-near.ts";
import { describeCover } from "../../observation/in-page/describe-cover.ts";
import type { Point } from "./input.ts";
import { actMs } from "./perform.ts";

type Press = NonNullable<Parameters<ElementHandle["click"]>[0]>;
type Where = Pick<Press, "position" | "modifiers">;

/** How long a moving element may take to come to rest, in milliseconds. */
const restMs = 1_500;

/**
 * Clicks an element as a person does: the mouse is over it first, so that whatever the page changes
 * on hover is done before the button goes down. An element that never rests is clicked where it is.
 */
export async function press(page: Page, handle: ElementHandle, how: Press): Promise<void> {
  const { position, modifiers } = how;
  const { moves, box, label } = await handle.evaluate(bringNear);
  if (label >= 0) return await evenIfSlow((await labelOf(handle, label)).click({ ...how, timeout: actMs }));
  if (!moves) {
    const at = middleOf(box ?? (await handle.boundingBox()), position);
    try {
      // The mouse arrives before the click, which first waits for two frames in which the element
      // rests.
      await Promise.all([at && page.mouse.move(at.x, at.y), evenIfSlow(handle.click({ ...how, timeout: actMs }))]);
      return;
    } catch (error) {
      if (!isRestless(error)) throw error;
    }
  }
  const rests = await moveOnto(handle, { ...(position && { position }), ...(modifiers && { modifiers }) });
  await evenIfSlow(handle.click({ ...how, force: !rests, timeout: actMs - restMs }));
}

/** Checks or unchecks a box, by its label where it cannot be clicked itself. */
export async function setChecked(handle: ElementHandle, checked: boolean): Promise<void> {
  const { label } = await handle.evaluate(bringNear);
  await (label >= 0 ? await labelOf(handle, label) : handle).setChecked(checked, { timeout: actMs });
}

async function labelOf(handle: ElementHandle, index: number): Promise<ElementHandle> {
  return (await handle.evaluateHandle(labelNumbered, index)).asElement() ?? handle;
}

/** An act that is done once only the page it has asked for is waited for: that one may be slow. */
export async function evenIfSlow(act: Promise<void>): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!(error instanceof Error && /waiting for scheduled navigations to finish/.test(error.message))) throw error;
  }
}

/** Where an element will be clicked; undefined when it has no box. */
function middleOf(box: Near["box"] | null, position: Press["position"]): Point | undefined {
  if (!box) return undefined;
  const { x, y } = position ?? { x: box.width / 2, y: box.height / 2 };
  return { x: box.x + x, y: box.y + y };
}

/** Whether this error says that the element was not clicked because it kept moving. */
function isRestless(error: unknown): boolean {
  return (
    error instanceof Error && /element is not stable/.test(error.message) && !/performing click/.test(error.message)
  );
}

/** Moves the mouse onto an element, even one that never rests; returns whether it rests. */
export async function moveOnto(handle: ElementHandle, where: Where = {}): Promise<boolean> {
  try {
    await handle.hover({ ...where, timeout: restMs });
    return true;
  } catch (error) {
    const free = isRestless(error) && (await handle.evaluate(describeCover)) === "";
    await handle.hover({ ...where, force: free, timeout: actMs - restMs });
    return !free;
  }
}
